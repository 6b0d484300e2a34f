import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { BRIEF_MS, reportWhatLasts } from '../../../../src/upstream/redis/connection/outages.ts';
import {
  type ChannelOptions,
  LONGEST_PAUSE_MS,
  createChannel,
} from '../../../../src/upstream/redis/connection/channel.ts';

afterEach(() => void vi.useRealTimers());

function connected(status = 'ready', options: Partial<ChannelOptions> = {}) {
  const reported: (string | undefined)[] = [];
  const refusals: Record<string, number> = {};
  const lateReplies: Record<string, number> = {};
  const redis = { status };
  const channel = createChannel({ redis, refusals, lateReplies }, { what: 'reads', timeoutMs: 1, ...options });
  onTestFinished(reportWhatLasts(channel.trouble, (reason) => void reported.push(reason)));
  return { ...channel, reported, refusals, lateReplies };
}

const never = () => new Promise<string>(() => undefined);
const replyError = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

/** Until what is wrong is no longer brief. */
const lasts = () => vi.advanceTimersByTimeAsync(2 * BRIEF_MS);

/** Calls that fail, for as long. */
async function keepFailing(send: () => Promise<unknown>): Promise<void> {
  for (let ms = 0; ms < 3 * BRIEF_MS; ms += 100) {
    const failed = send();
    await vi.advanceTimersByTimeAsync(100);
    expect(await failed).toBeUndefined();
  }
}

test('a call that Redis refuses has no result, is reported once if that lasts, and for a while no other is made', async () => {
  vi.useFakeTimers();
  const { call, reported, refusals } = connected();
  const refused = vi.fn(() => Promise.reject(replyError('OOM command not allowed')));
  expect(await Promise.all([call(refused), call(refused)])).toEqual([undefined, undefined]);
  expect([refusals, reported]).toEqual([{ OOM: 2 }, []]);
  expect(await call(refused)).toBeUndefined();
  expect(refused).toHaveBeenCalledTimes(2);
  await lasts();
  expect(reported).toEqual(['refuses reads: OOM']);
  expect(await call(() => Promise.resolve('x'))).toBe('x');
  await lasts();
  expect(reported).toEqual(['refuses reads: OOM', undefined]);
});

test('a cluster is unreachable if the node with the keys is lost, though others answer', async () => {
  vi.useFakeTimers();
  const { call, reported } = connected();
  await keepFailing(() => call(() => Promise.reject(new Error('Connection is closed.'))));
  expect(reported).toEqual(['the node with the keys does not answer']);
});

test('a call that was late, and is the last one for long, is no outage', async () => {
  vi.useFakeTimers();
  const { call, reported } = connected();
  const late = call(never);
  await vi.advanceTimersByTimeAsync(10);
  expect(await late).toBeUndefined();
  await vi.advanceTimersByTimeAsync(20 * BRIEF_MS);
  expect(reported).toEqual([]);
});

test('a call of a connection before says nothing of the one that there is now', async () => {
  vi.useFakeTimers();
  const { call, restart, reported } = connected();
  const before = call(async () => {
    await Promise.resolve();
    throw replyError('READONLY a replica');
  });
  restart();
  expect(await before).toBeUndefined();
  await lasts();
  expect(reported).toEqual([]);
});

test('what only an operator can mend is reported beside what was reported before it', async () => {
  vi.useFakeTimers();
  const reasons = ['closed', 'ECONNRESET', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'];
  const reported: (string | undefined)[] = [];
  let at = 0;
  onTestFinished(
    reportWhatLasts(
      () => reasons[at],
      (reason) => void reported.push(reason),
    ),
  );
  for (; at <= reasons.length; at++) await lasts();
  expect(reported).toEqual(['closed', reasons[2], undefined]);
});

test('a call that is late has no result, and for a while no other is made', async () => {
  const { call, lateReplies, reported } = connected();
  expect(await call(never)).toBeUndefined();
  expect([lateReplies, reported]).toEqual([{ reads: 1 }, []]);
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});

test('a Redis that stays slow is reported once, and one that was slow once is not', async () => {
  vi.useFakeTimers();
  const { call, reported } = connected('ready', { timeoutMs: 250 });
  const send = async (ms: number) => {
    const result = call(() => new Promise<string>((resolve) => setTimeout(resolve, ms, 'x')));
    await vi.advanceTimersByTimeAsync(300);
    return result;
  };
  expect(await send(300)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(250);
  expect(await send(1)).toBe('x');
  await lasts();
  expect(reported).toEqual([]);
  for (let calls = 0; calls < 20; calls++) expect(await send(300)).toBeUndefined();
  expect(reported).toEqual(['no answer in time']);
  await vi.advanceTimersByTimeAsync(LONGEST_PAUSE_MS);
  expect(await send(1)).toBe('x');
  await lasts();
  expect(reported).toEqual(['no answer in time', undefined]);
});

test('one late call beside others in time stops none of them', async () => {
  vi.useFakeTimers();
  const { call } = connected('ready', { timeoutMs: 250 });
  const late = call(never);
  await vi.advanceTimersByTimeAsync(100);
  expect(await call(() => Promise.resolve('x'))).toBe('x');
  await vi.advanceTimersByTimeAsync(300);
  expect(await late).toBeUndefined();
  expect(await call(() => Promise.resolve('x'))).toBe('x');
});

test('after many refusals, the next call is made after at most a second', async () => {
  vi.useFakeTimers();
  const { call } = connected();
  const refused = vi.fn(() => Promise.reject(replyError('OOM command not allowed')));
  for (let at = 0; at < 12; at++) {
    await call(refused);
    await vi.advanceTimersByTimeAsync(LONGEST_PAUSE_MS);
  }
  expect(refused).toHaveBeenCalledTimes(12);
  await call(refused);
  const made = vi.fn(() => Promise.resolve('x'));
  await vi.advanceTimersByTimeAsync(LONGEST_PAUSE_MS - 50);
  expect(await call(made)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(50);
  expect(await call(made)).toBe('x');
});

test('replies that come late do not end the pause', async () => {
  vi.useFakeTimers();
  const { call } = connected('ready', { timeoutMs: 250 });
  const slow = vi.fn(() => new Promise<string>((resolve) => setTimeout(resolve, 300, 'x')));
  for (let at = 0; at < 300; at++) {
    void call(slow);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(slow.mock.calls.length).toBeLessThan(100);
});

test('on a new connection the next call is made at once', async () => {
  vi.useFakeTimers();
  const { call, restart, reported } = connected();
  await keepFailing(() => call(never));
  expect(reported).toEqual(['no answer in time']);
  restart();
  expect(await call(() => Promise.resolve('x'))).toBe('x');
  await lasts();
  expect(reported).toEqual(['no answer in time', undefined]);
});

test('without a connection no call is made', async () => {
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await connected('reconnecting').call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});
