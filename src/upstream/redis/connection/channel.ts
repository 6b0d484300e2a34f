/** Calls of Redis that a request waits for briefly, or not at all while Redis is slow, refuses them or is unreachable. */
import { afterPendingReads } from '../../../lib/deadlines.ts';
import { type AvailabilityMonitor, type ReportAvailability, createAvailabilityMonitor } from '../../availability.ts';
import type { Pause } from './pause.ts';

/** The result of a call; undefined if it failed, was late, or was not made. `onLate` gets the result of a call that was late. */
export type RedisCall = <Result>(
  call: () => Promise<Result>,
  onLate?: (result: Result) => void,
) => Promise<Result | undefined>;

interface ChannelOptions {
  what: string;
  timeoutMs: number;
  pause: Pause;
  /** Of the connection. */
  availability: Pick<AvailabilityMonitor, 'onSuccess' | 'onFailure'>;
  report: ReportAvailability;
  /** Called with the first word of an error reply. */
  onRefusal: (code: string) => void;
}

/**
 * Calls of one kind. No other is made during a pause, which grows, after one that was refused, or that was late while Redis answered nothing
 * else: a Redis that is slow answers still.
 */
export function createChannel(connection: { redis: { status: string } }, options: ChannelOptions): RedisCall {
  const { what, timeoutMs, pause, availability, report, onRefusal } = options;
  // Redis may answer reads and refuse writes, so refusals are reported by kind of call.
  const refusals = createAvailabilityMonitor(report);
  let answers = 0;

  /** `redis` is the client that made the call. One that has lost its connection or was replaced makes no other. */
  function onFailure(error: unknown, redis: { status: string }): undefined {
    if (redis !== connection.redis || redis.status !== 'ready') return undefined;
    pause.grow();
    const { name, message = '' } = error as Error;
    // The client of a cluster stays ready while any node answers, so only the calls show that the node with the keys is lost.
    if (name !== 'ReplyError') return void availability.onFailure('the node with the keys does not answer');
    const code = /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR';
    onRefusal(code);
    if (code === 'CLUSTERDOWN') return void availability.onFailure(code, true);
    refusals.onFailure(`refuses ${what}: ${code}`, true);
    return undefined;
  }
  function onResult(): void {
    answers++;
    pause.end();
    availability.onSuccess();
    refusals.onSuccess();
  }
  function onLateness(answersBefore: number): void {
    if (answers > answersBefore) return;
    pause.grow();
    availability.onFailure('no answer in time');
  }

  return async (call, onLate) => {
    const { redis } = connection;
    if (redis.status !== 'ready' || pause.isOn()) return undefined;
    const answersBefore = answers;
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(afterPendingReads, timeoutMs, () => {
        isLate = true;
        onLateness(answersBefore);
        resolve(undefined);
      });
    });
    const result = call().then(
      (value) => {
        onResult();
        return isLate ? void onLate?.(value) : value;
      },
      (error: unknown) => onFailure(error, redis),
    );
    const first = await Promise.race([result, late]);
    clearTimeout(timer);
    return first;
  };
}
