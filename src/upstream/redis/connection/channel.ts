/** Calls of Redis that a request waits for briefly, or not at all while Redis is slow, refuses them or is unreachable. */
import { afterPendingReads } from '../../../lib/event-loop.ts';
import { createCircuitBreaker } from '../../limits/circuit-breaker.ts';
import { BRIEF_MS } from './outages.ts';

/** The result of a call; undefined if it failed, was late, or was not made. */
export type RedisCall = <Result>(call: () => Promise<Result>) => Promise<Result | undefined>;

export interface ChannelOptions {
  /** Names the calls in the log. */
  what: string;
  timeoutMs: number;
}

/** What the channels of a connection share. */
export interface ChannelParts {
  redis: { status: string };
  /** Counts error replies by their first word. */
  refusals: Record<string, number>;
  /** Counts replies that are late, by the kind of call. */
  lateReplies: Record<string, number>;
}

/** Redis may be quick again at any time, and who is refused may retry after a second. */
export const LONGEST_PAUSE_MS = 1_000;
/** One late call costs a moment, so it is enough to open the breaker, and one call in time to close it. */
const BREAKER = { breakerFailures: 1, breakerPauseMs: 250, maxBreakerPauseMs: LONGEST_PAUSE_MS };

export type Channel = ReturnType<typeof createChannel>;

/** Each channel has its own breaker: Redis may answer reads in time and refuse writes. */
export function createChannel({ redis, refusals, lateReplies }: ChannelParts, { what, timeoutMs }: ChannelOptions) {
  const createBreaker = () => createCircuitBreaker(BREAKER, () => undefined);
  let breaker = createBreaker();
  /** Why the last call failed, and when one failed last, or was not made. */
  let reason: string | undefined;
  let missedAt = -Infinity;

  const call: RedisCall = async (send) => {
    if (redis.status !== 'ready') return undefined;
    const permit = breaker.acquire(send);
    const begun = performance.now();
    if (!permit) return void (missedAt = begun);
    const onFailure = (why: string): void => {
      reason = why;
      missedAt = performance.now();
      permit.onFailure(why, begun);
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<typeof LATE>((resolve) => {
      timer = setTimeout(afterPendingReads, timeoutMs, () => resolve(LATE));
    });
    try {
      const result = await Promise.race([send(), late]);
      if (result !== LATE) {
        permit.onSuccess();
        return result;
      }
      count(lateReplies, what);
      onFailure(NO_ANSWER);
    } catch (error) {
      const code = replyCodeOf(error as Error);
      // A client that has lost its connection makes no other call.
      if (redis.status !== 'ready') permit.release();
      else onFailure(code ? `refuses ${what}: ${code}` : 'the node with the keys does not answer');
      if (code !== undefined) count(refusals, code);
    } finally {
      clearTimeout(timer);
    }
    return undefined;
  };
  return {
    call,
    /** The next call is made at once: what the breaker knows is of another connection. */
    restart: () => void (breaker = createBreaker()),
    /** Why calls fail; of those without a reply only while calls are made: the next one may be answered. */
    trouble: () =>
      breaker.isOpen() && (isRefusal(reason) || performance.now() - missedAt < RECENT_MS) ? reason : undefined,
  };
}

const LATE = Symbol('late');
const count = (counts: Record<string, number>, name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
/** One call is seen by one look at what lasts. */
const RECENT_MS = 0.9 * BRIEF_MS;

export const NO_ANSWER = 'no answer in time';

/** A Redis that refuses some calls is reachable. */
export const isRefusal = (trouble: string | undefined): boolean => trouble?.startsWith('refuses ') ?? false;

/** The first word of an error reply of Redis; undefined if the error is of another kind. */
function replyCodeOf({ name, message }: Error): string | undefined {
  const [, last] = /^Too many Cluster redirections\. Last error: ReplyError: ([A-Z]+)/.exec(message) ?? [];
  if (last !== undefined) return last;
  return name === 'ReplyError' ? (/^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR') : undefined;
}
