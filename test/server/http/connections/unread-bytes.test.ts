import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Backlog, UnreadBytes } from '../../../../src/server/http/connections/unread-bytes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(maxUnsentBytes: number, connections: number) {
  let closedCount = 0;
  const unsent = new UnreadBytes({ maxUnsentBytes, connectionTimeoutMs: 1_000 }, () => closedCount++);
  const sockets = Array.from({ length: connections }, () => new Socket());
  const backlogs = sockets.map((socket) => new Backlog(socket, unsent));
  const closed = () => sockets.flatMap(({ destroyed }, nth) => (destroyed ? [nth] : []));
  return { unsent, backlogs, closed, counted: () => closedCount };
}

test('beyond the limit, the connection that has been idle longest is closed, and no more than necessary', () => {
  const { unsent, backlogs, closed, counted } = open(100, 4);
  for (const backlog of backlogs.slice(0, 3)) backlog.change(30);
  backlogs[0]!.change(-1); // its client reads
  backlogs[3]!.change(30);
  expect([closed(), counted(), unsent.bytes, unsent.backlogs.size]).toEqual([[1], 1, 89, 3]);
});

test('changes of a closed connection do not count', () => {
  const { unsent, backlogs, closed } = open(100, 2);
  backlogs[0]!.change(80);
  backlogs[1]!.change(80);
  expect(closed()).toEqual([0]);
  backlogs[0]!.change(-10);
  backlogs[0]!.change(500);
  expect([unsent.bytes, unsent.backlogs.size]).toEqual([80, 1]);
});

test('a single response beyond the limit is sent while nothing else is unsent; a second one behind it is not', () => {
  const { unsent, backlogs, closed } = open(100, 2);
  backlogs[0]!.change(300);
  backlogs[0]!.change(-10);
  expect([closed(), unsent.bytes]).toEqual([[], 290]);
  backlogs[0]!.change(5);
  expect([closed(), unsent.bytes]).toEqual([[0], 0]);
});

test('a client that reads nothing for the timeout is disconnected, one that reads now and then is not', async () => {
  const { unsent, backlogs, closed } = open(100, 2);
  for (const backlog of backlogs) backlog.change(50);
  for (let turn = 0; turn < 5; turn++) {
    await vi.advanceTimersByTimeAsync(600);
    backlogs[1]!.change(-1);
  }
  expect([closed(), unsent.bytes]).toEqual([[0], 45]);
  backlogs[1]!.change(-45);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([closed(), unsent.bytes, unsent.backlogs.size]).toEqual([[0], 0, 0]);
});
