import { expect, onTestFinished, test, vi } from 'vitest';
import { createOutages } from '../../../../src/upstream/redis/connection/outages.ts';
import { type ChannelOptions, createChannel } from '../../../../src/upstream/redis/connection/channel.ts';

function connected(status = 'ready', options: Partial<ChannelOptions> = {}) {
  const node = { onSuccess: vi.fn(), onFailure: vi.fn() };
  const reported: (string | undefined)[] = [];
  const refused: string[] = [];
  const late: string[] = [];
  const outages = createOutages((reason) => void reported.push(reason));
  const connection = { redis: { status } };
  const onRefusal = (code: string) => void refused.push(code);
  const onLate = (what: string) => void late.push(what);
  const channel = createChannel(
    { connection, outages, node, onRefusal, onLate },
    { what: 'reads', timeoutMs: 1, ...options },
  );
  const noted = () => [node.onSuccess.mock.calls.length, node.onFailure.mock.calls.length];
  return { ...channel, connection, outages, noted, reported, refused, late };
}

const never = () => new Promise<string>(() => undefined);
const replyError = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

test('a result shows that Redis is reachable', async () => {
  const { call, noted } = connected();
  expect(await call(() => Promise.resolve('x'))).toBe('x');
  expect(noted()).toEqual([1, 0]);
});

test('a call that Redis refuses has no result, is reported once, and for a while no other is made', async () => {
  const { call, reported, refused: codes } = connected();
  const refused = vi.fn(() => Promise.reject(replyError('OOM command not allowed')));
  expect(await Promise.all([call(refused), call(refused)])).toEqual([undefined, undefined]);
  expect(reported).toEqual(['refuses reads: OOM']);
  expect(codes).toEqual(['OOM', 'OOM']);
  expect(await call(refused)).toBeUndefined();
  expect(refused).toHaveBeenCalledTimes(2);
});

test.each([
  ['is lost', 'Error', 'Connection is closed.'],
  ['is known to be lost', 'ReplyError', 'CLUSTERDOWN The cluster is down'],
])('a cluster is unreachable if the node with the keys %s, though others answer', async (_, name, message) => {
  const { call, noted, reported } = connected();
  expect(await call(() => Promise.reject(Object.assign(new Error(message), { name })))).toBeUndefined();
  expect(noted()).toEqual([0, 1]);
  expect(reported).toEqual([]);
});

test('what comes late is given to who can undo it', async () => {
  const { call } = connected();
  let answer: (value: string) => void = () => undefined;
  const onLate = vi.fn();
  expect(await call(() => new Promise<string>((resolve) => (answer = resolve)), onLate)).toBeUndefined();
  answer('a slot');
  await new Promise((resolve) => setImmediate(resolve));
  expect(onLate).toHaveBeenCalledWith('a slot');
});

test('a call that is late has no result, and for a while no other is made', async () => {
  const { call, late, reported } = connected();
  expect(await call(never)).toBeUndefined();
  expect([late, reported]).toEqual([['reads'], []]);
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});

test('once half of the calls are late Redis is reported once, and reachable again when five in a row were in time', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { call, outages, reported } = connected('ready', { timeoutMs: 250 });
  /** Sends the calls one after the other, each after the pause. */
  const send = async (...takes: number[]) => {
    for (const ms of takes) {
      await vi.advanceTimersByTimeAsync(30_000);
      const result = call(() => new Promise<string>((resolve) => setTimeout(resolve, ms, 'x')));
      await vi.advanceTimersByTimeAsync(400);
      expect(await result).toBe(ms < 250 ? 'x' : undefined);
    }
  };
  await send(1, 1, 1, 300, 300);
  expect(reported).toEqual([]);
  await send(300);
  expect(reported).toEqual(['no answer in time']);
  expect(outages.isUnreachable()).toBe(true);
  await send(1, 300, 1, 1, 1, 1, 300);
  expect(reported).toEqual(['no answer in time']);
  await send(1, 1, 1, 1, 1);
  expect(reported).toEqual(['no answer in time', undefined]);
  expect(outages.isUnreachable()).toBe(false);
});

test.each([
  ['half a minute', undefined, 30_000],
  ['as long as its caller says', 1_000, 1_000],
])('after many refusals, the next call is made after at most %s', async (_, longestPauseMs, most) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { call } = connected('ready', longestPauseMs === undefined ? {} : { longestPauseMs });
  const refused = vi.fn(() => Promise.reject(replyError('OOM command not allowed')));
  for (let at = 0; at < 12; at++) {
    await call(refused);
    await vi.advanceTimersByTimeAsync(most);
  }
  expect(refused).toHaveBeenCalledTimes(12);
  await call(refused);
  const made = vi.fn(() => Promise.resolve('x'));
  await vi.advanceTimersByTimeAsync(most - 50);
  expect(await call(made)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(50);
  expect(await call(made)).toBe('x');
});

test('after many late calls, the next is made after at most as long as its caller says', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { call } = connected('ready', { longestPauseMs: 1_000 });
  const late = vi.fn(never);
  for (let at = 0; at < 8; at++) {
    void call(late);
    await vi.advanceTimersByTimeAsync(1_010);
  }
  expect(late).toHaveBeenCalledTimes(8);
});

test('replies that come late do not end the pause', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { call } = connected('ready', { timeoutMs: 250 });
  const slow = vi.fn(() => new Promise<string>((resolve) => setTimeout(resolve, 300, 'x')));
  for (let at = 0; at < 300; at++) {
    void call(slow);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(slow.mock.calls.length).toBeLessThan(60);
});

test('lateness is forgotten after a minute without calls, and on a new connection', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { call, restart, reported } = connected();
  const slow = async () => {
    for (let calls = 0; calls < 3; calls++) {
      void call(never);
      await vi.advanceTimersByTimeAsync(5_000);
    }
  };
  await slow();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reported).toEqual(['no answer in time', undefined]);
  await slow();
  restart();
  expect(reported).toHaveLength(4);
  expect(await call(() => Promise.resolve('x'))).toBe('x');
});

test.each([
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'ASK 5 127.0.0.1:7001',
  'Too many Cluster redirections. Last error: ReplyError: MOVED 5 127.0.0.1:7001',
  'LOADING Redis is loading the dataset in memory',
])('a call that was not run (%s) is repeated for the time of its patience', async (message) => {
  const patient = connected('ready', { timeoutMs: 1_000, patienceMs: 10_000 });
  const again = vi.fn().mockRejectedValueOnce(replyError(message)).mockResolvedValueOnce('x');
  expect(await patient.call(again)).toBe('x');
  expect(patient.reported).toEqual([expect.stringContaining('refuses reads: '), undefined]);
  const impatient = connected();
  const once = vi.fn(() => Promise.reject(replyError(message)));
  expect(await impatient.call(once)).toBeUndefined();
  expect(once).toHaveBeenCalledOnce();
});

test('a call that may have been run is not repeated', async () => {
  const { call } = connected('ready', { patienceMs: 10_000 });
  for (const error of [new Error('Connection is closed.'), replyError('ERR Error running script')]) {
    const next = vi.fn(() => Promise.reject(error));
    expect(await call(next)).toBeUndefined();
    expect(next.mock.calls.length).toBeLessThan(2);
  }
});

test('a call waits for a connection that is being restored, not for one that is lost', async () => {
  const { call, connection, outages } = connected('reconnecting', { timeoutMs: 1_000, patienceMs: 10_000 });
  const waiting = call(() => Promise.resolve('x'));
  setImmediate(() => (connection.redis.status = 'ready'));
  expect(await waiting).toBe('x');
  connection.redis.status = 'reconnecting';
  outages.begin('connection', 'ECONNREFUSED');
  expect(await call(() => Promise.resolve('x'))).toBeUndefined();
});

test('without a connection no call is made', async () => {
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await connected('reconnecting').call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});
