/** Calls of Redis that a request waits for briefly, or not at all while Redis is slow, refuses them or is unreachable. */
import { afterPendingReads } from '../../../lib/event-loop.ts';
import { createCircuitBreaker } from '../../limits/circuit-breaker.ts';
import type { Outages } from './outages.ts';

/** The result of a call; undefined if it failed, was late, or was not made. */
export type RedisCall = <Result>(call: () => Promise<Result>) => Promise<Result | undefined>;

export interface ChannelOptions {
  /** Names the calls in the log. */
  what: string;
  timeoutMs: number;
  /** The longest pause after calls that Redis refused, or answered late. */
  longestPauseMs?: number;
}

/** What the channels of a connection share. */
export interface ChannelParts {
  redis: { status: string };
  outages: Outages;
  /** Called with the first word of an error reply. */
  onRefusal: (code: string) => void;
  /** Called for each reply that is late. */
  onLate: (what: string) => void;
}

/** One late call costs a moment, so it is enough to open the breaker, and one call in time to close it. */
const BREAKER = { breakerFailures: 1, breakerPauseMs: 250 };
/** Redis may be quick again at any time. */
export const LONGEST_PAUSE_MS = 5_000;

export type Channel = ReturnType<typeof createChannel>;

/** Each channel has its own breaker: Redis may answer reads in time and refuse writes. */
export function createChannel({ redis, outages, onRefusal, onLate }: ChannelParts, options: ChannelOptions) {
  const { what, timeoutMs, longestPauseMs = LONGEST_PAUSE_MS } = options;
  const onChange = (reason: string | undefined) =>
    reason === undefined ? outages.end(what) : outages.begin(what, reason, reason.startsWith('refuses'));
  const createBreaker = () => createCircuitBreaker({ ...BREAKER, maxBreakerPauseMs: longestPauseMs }, onChange);
  let breaker = createBreaker();

  const call: RedisCall = async (call) => {
    if (redis.status !== 'ready') return undefined;
    const permit = breaker.acquire(call);
    if (!permit) return undefined;
    const begun = performance.now();
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<undefined>((resolve) => {
      timer = setTimeout(afterPendingReads, timeoutMs, () => {
        isLate = true;
        onLate(what);
        permit.onFailure('no answer in time', begun);
        resolve(undefined);
      });
    });
    const result = call().then(
      (value) => {
        if (isLate) return undefined;
        permit.onSuccess();
        return value;
      },
      (error: unknown) => {
        if (isLate) return undefined;
        // A client that has lost its connection makes no other call.
        if (redis.status !== 'ready') return void permit.release();
        const code = replyCodeOf(error as Error);
        if (code !== undefined) onRefusal(code);
        const reason = code === undefined ? 'the node with the keys does not answer' : `refuses ${what}: ${code}`;
        return void permit.onFailure(reason, begun);
      },
    );
    const first = await Promise.race([result, deadline]);
    clearTimeout(timer);
    return first;
  };
  /** The next call is made at once: what the breaker knows is of another connection, or the process ends. */
  const restart = (): void => {
    breaker = createBreaker();
    outages.end(what);
  };
  return { call, restart };
}

/** The first word of an error reply of Redis; undefined if the error is of another kind. */
function replyCodeOf({ name, message }: Error): string | undefined {
  const [, last] = /^Too many Cluster redirections\. Last error: ReplyError: ([A-Z]+)/.exec(message) ?? [];
  if (last !== undefined) return last;
  return name === 'ReplyError' ? (/^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR') : undefined;
}
