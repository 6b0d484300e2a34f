import { expect, test, vi } from 'vitest';
import { createPause } from '../../../../src/upstream/redis/connection/pause.ts';
import { createChannel } from '../../../../src/upstream/redis/connection/channel.ts';

function connected(status = 'ready') {
  const availability = { onSuccess: vi.fn(), onFailure: vi.fn() };
  const reported: (string | undefined)[] = [];
  const refused: string[] = [];
  const report = (reason: string | undefined) => void reported.push(reason);
  const call = createChannel(
    { redis: { status } },
    {
      what: 'reads',
      timeoutMs: 1,
      pause: createPause(),
      availability,
      report,
      onRefusal: (code) => void refused.push(code),
    },
  );
  const noted = () => [availability.onSuccess.mock.calls.length, availability.onFailure.mock.calls.length];
  return { call, noted, reported, refused };
}

test('a result shows that Redis is reachable', async () => {
  const { call, noted } = connected();
  expect(await call(() => Promise.resolve('x'))).toBe('x');
  expect(noted()).toEqual([1, 0]);
});

test('a call that Redis refuses has no result, is reported once, and for a while no other is made', async () => {
  const { call, reported, refused: codes } = connected();
  const refusal = Object.assign(new Error('OOM command not allowed'), { name: 'ReplyError' });
  const refused = vi.fn(() => Promise.reject(refusal));
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

test('a call that is late has no result, shows that Redis is unreachable, and for a while no other is made', async () => {
  const { call, noted } = connected();
  expect(await call(() => new Promise(() => undefined))).toBeUndefined();
  expect(noted()).toEqual([0, 1]);
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});

test('without a connection no call is made', async () => {
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await connected('reconnecting').call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});
