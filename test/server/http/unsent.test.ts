import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createUnsentBytes } from '../../../src/server/http/unsent.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(maxUnsentBytes: number, connections: number) {
  let cut = 0;
  const unsent = createUnsentBytes({ maxUnsentBytes, connectionTimeoutMs: 1_000 }, () => cut++);
  const sockets = Array.from({ length: connections }, () => new Socket());
  const backlogs = sockets.map((socket) => unsent.open(socket));
  const cuts = () => sockets.flatMap(({ destroyed }, nth) => (destroyed ? [nth] : []));
  return { unsent, backlogs, cuts, counted: () => cut };
}

test('past the bound, the connection on which nothing was taken for longest is cut, and no more than must be', () => {
  const { unsent, backlogs, cuts, counted } = open(100, 4);
  for (const backlog of backlogs.slice(0, 3)) backlog.change(30);
  backlogs[0]!.change(-1); // its client reads
  backlogs[3]!.change(30);
  expect([cuts(), counted(), unsent.bytes(), unsent.connections()]).toEqual([[1], 1, 89, 3]);
});

test('changes of a connection that was cut do not count', () => {
  const { unsent, backlogs, cuts } = open(100, 2);
  backlogs[0]!.change(80);
  backlogs[1]!.change(80);
  expect(cuts()).toEqual([0]);
  backlogs[0]!.change(-10);
  backlogs[0]!.change(500);
  expect([unsent.bytes(), unsent.connections()]).toEqual([80, 1]);
});

test('one answer that is larger than the bound is sent where nothing else waits; a second behind it is not', () => {
  const { unsent, backlogs, cuts } = open(100, 2);
  backlogs[0]!.change(300);
  backlogs[0]!.change(-10);
  expect([cuts(), unsent.bytes()]).toEqual([[], 290]);
  backlogs[0]!.change(5);
  expect([cuts(), unsent.bytes()]).toEqual([[0], 0]);
});

test('a client that takes nothing for the time is cut, one that takes something now and then is not', async () => {
  const { unsent, backlogs, cuts } = open(100, 2);
  for (const backlog of backlogs) backlog.change(50);
  for (let turn = 0; turn < 5; turn++) {
    await vi.advanceTimersByTimeAsync(600);
    backlogs[1]!.change(-1);
  }
  expect([cuts(), unsent.bytes()]).toEqual([[0], 45]);
  backlogs[1]!.change(-45);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([cuts(), unsent.bytes(), unsent.connections()]).toEqual([[0], 0, 0]);
});
