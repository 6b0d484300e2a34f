/** Calls of Redis that a request waits for briefly, or not at all while Redis is slow or unreachable. */
import type { Redis } from 'ioredis';
import { afterPendingReads } from '../lib/deadlines.ts';
import type { AvailabilityMonitor } from './availability.ts';

/** The result of a call; undefined if it failed or was late. */
export type RedisCall = <Result>(call: () => Promise<Result>) => Promise<Result | undefined>;

/** How long Redis is not called after it was late. */
const PAUSE_MS = 1_000;

export function withTimeout(redis: Redis, availability: AvailabilityMonitor, timeoutMs: number): RedisCall {
  let pausedUntil = 0;

  return async (call) => {
    if (redis.status !== 'ready' || performance.now() < pausedUntil) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(afterPendingReads, timeoutMs, () => resolve(null));
    });
    const result = call().then(
      (value) => ({ value }),
      () => ({ value: undefined }),
    );
    const first = await Promise.race([result, timeout]);
    clearTimeout(timer);
    if (first === null) {
      pausedUntil = performance.now() + PAUSE_MS;
      availability.onFailure('no answer in time');
    } else if (first.value !== undefined) availability.onSuccess();
    return first?.value;
  };
}
