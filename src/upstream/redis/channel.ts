/** Calls of Redis that a request waits for briefly, or not at all while Redis is slow, refuses them or is unreachable. */
import { afterPendingReads } from '../../lib/deadlines.ts';
import { type AvailabilityMonitor, type ReportAvailability, createAvailabilityMonitor } from '../availability.ts';
import { createPause } from './pause.ts';

/** The result of a call; undefined if it failed, was late, or was not made. `onLate` gets the result of a call that was late. */
export type RedisCall = <Result>(
  call: () => Promise<Result>,
  onLate?: (result: Result) => void,
) => Promise<Result | undefined>;

interface ChannelOptions {
  what: string;
  timeoutMs: number;
  /** Of the connection. */
  availability: AvailabilityMonitor;
  report: ReportAvailability;
}

/** Calls of one kind: after one that was late or refused, no other is made during a pause, which grows. */
export function createChannel(redis: { status: string }, options: ChannelOptions): RedisCall {
  const { what, timeoutMs, availability, report } = options;
  const pause = createPause();
  // Redis may answer reads and refuse writes, so refusals are reported by kind of call.
  const refusals = createAvailabilityMonitor(report);

  function onFailure(error: unknown): undefined {
    pause.grow();
    const { name, message = '' } = error as Error;
    if (name === 'ReplyError') refusals.onFailure(`refuses ${what}: ${message.split(' ', 1)[0]}`, true);
    return undefined;
  }
  function onResult<Result>(value: Result): Result {
    pause.end();
    availability.onSuccess();
    refusals.onSuccess();
    return value;
  }

  return async (call, onLate) => {
    if (redis.status !== 'ready' || pause.isOn()) return undefined;
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(afterPendingReads, timeoutMs, () => {
        isLate = true;
        resolve(undefined);
      });
    });
    const result = call().then((value) => (isLate ? void onLate?.(value) : onResult(value)), onFailure);
    const first = await Promise.race([result, late]);
    clearTimeout(timer);
    if (isLate) {
      pause.grow();
      availability.onFailure('no answer in time');
    }
    return first;
  };
}
