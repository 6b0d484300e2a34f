import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { UnreadBytes } from '../../../../src/server/http/connections/unread-bytes.ts';

function open(maxUnsentBytes: number, connections: number) {
  let cuts = 0;
  const unread = new UnreadBytes({ maxUnsentBytes }, () => cuts++);
  const sockets = Array.from({ length: connections }, () => new Socket());
  const set = (nth: number, bytes: number) => unread.set(sockets[nth]!, bytes);
  const cut = () => sockets.flatMap(({ destroyed }, nth) => (destroyed ? [nth] : []));
  return { unread, sockets, set, cut, counted: () => cuts };
}

test('beyond the limit, the connection that has read nothing for the longest time is cut, and no more than necessary', () => {
  const { unread, set, cut, counted } = open(100, 4);
  for (const nth of [0, 1, 2]) set(nth, 30);
  set(0, 29); // its client reads
  set(3, 30);
  expect([cut(), counted(), unread.bytes]).toEqual([[1], 1, 89]);
});

test('bytes of a closed connection do not count', () => {
  const { unread, set, cut } = open(100, 2);
  set(0, 80);
  set(1, 80);
  expect(cut()).toEqual([0]);
  set(0, 500);
  expect([unread.bytes, cut()]).toEqual([80, [0]]);
});

test('a single response beyond the limit is sent while nothing else is unread', () => {
  const { unread, set, cut } = open(100, 2);
  set(0, 300);
  set(0, 290);
  expect([cut(), unread.bytes]).toEqual([[], 290]);
  set(1, 1);
  expect([cut(), unread.bytes]).toEqual([[0], 1]);
});

test('of connections that are cut for silence, those with unread bytes count', () => {
  const { unread, sockets, set, cut, counted } = open(100, 2);
  set(0, 50);
  for (const socket of sockets) unread.cut(socket);
  expect([cut(), counted(), unread.bytes]).toEqual([[0, 1], 1, 0]);
});
