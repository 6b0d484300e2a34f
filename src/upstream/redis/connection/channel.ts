/** Calls of Redis that a request waits for briefly, or not at all while Redis is slow, refuses them or is unreachable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterPendingReads } from '../../../lib/event-loop.ts';
import { createCircuitBreaker } from '../../limits/circuit-breaker.ts';
import { CONNECTION, type Outages } from './outages.ts';

/** The result of a call; undefined if it failed, was late, or was not made. `onLate` gets the result of a call that was late. */
export type RedisCall = <Result>(
  call: () => Promise<Result>,
  onLate?: (result: Result) => void,
) => Promise<Result | undefined>;

export interface ChannelOptions {
  /** Names the calls in the log. */
  what: string;
  timeoutMs: number;
  /**
   * For how long a call is repeated that was certainly not run, because the slot of its keys is being moved or the connection is being
   * restored; none by default.
   */
  patienceMs?: number;
  /** The longest pause after calls that Redis refused, or answered late. */
  longestPauseMs?: number;
}

/** What the channels of a connection share. */
export interface ChannelParts {
  connection: { redis: { status: string } };
  outages: Outages;
  /** Called with the first word of an error reply. */
  onRefusal: (code: string) => void;
  /** Called for each reply that is late. */
  onLate: (what: string) => void;
}

const AGAIN_MS = 100;
const NOT_RUN = Symbol('not run');
/** Errors of commands that Redis has not run, and may run in a moment. */
const NOT_RUN_CODES = /^(TRYAGAIN|ASK|MOVED|CLUSTERDOWN|MASTERDOWN|LOADING|READONLY|BUSY)$/;

/** One late call costs a moment, so it is enough to open the breaker, and one call in time to close it. */
const BREAKER = { breakerFailures: 1, breakerPauseMs: 250 };
/** Redis may be quick again at any time. */
export const LONGEST_PAUSE_MS = 5_000;

export type Channel = ReturnType<typeof createChannel>;

/** Each channel has its own breaker: Redis may answer reads in time and refuse writes. */
export function createChannel(
  { connection, outages, onRefusal, onLate: onLateReply }: ChannelParts,
  options: ChannelOptions,
) {
  const { what, timeoutMs, patienceMs = 0, longestPauseMs = LONGEST_PAUSE_MS } = options;
  const onChange = (reason: string | undefined) =>
    reason === undefined ? outages.end(what) : outages.begin(what, reason, reason.startsWith('refuses'));
  const createBreaker = () => createCircuitBreaker({ ...BREAKER, maxBreakerPauseMs: longestPauseMs }, onChange);
  let breaker = createBreaker();

  async function attempt<Result>(
    call: () => Promise<Result>,
    onLate?: (result: Result) => void,
  ): Promise<Result | undefined | typeof NOT_RUN> {
    const { redis } = connection;
    if (redis.status !== 'ready') return outages.isReported(CONNECTION) ? undefined : NOT_RUN;
    const permit = breaker.acquire(call);
    if (!permit) return undefined;
    const begun = performance.now();
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<undefined>((resolve) => {
      timer = setTimeout(afterPendingReads, timeoutMs, () => {
        isLate = true;
        onLateReply(what);
        permit.onFailure('no answer in time', begun);
        resolve(undefined);
      });
    });
    const result = call().then(
      (value) => {
        if (!isLate) return (permit.onSuccess(), value);
        onLate?.(value);
        return undefined;
      },
      (error: unknown) => {
        if (isLate) return undefined;
        // A client that has lost its connection, or was replaced, makes no other call.
        if (redis !== connection.redis || redis.status !== 'ready') return (permit.release(), undefined);
        const code = replyCodeOf(error as Error);
        if (code !== undefined) onRefusal(code);
        const isNotRun = code !== undefined && NOT_RUN_CODES.test(code);
        if (isNotRun && patienceMs > 0) permit.release();
        else
          permit.onFailure(
            code === undefined ? 'the node with the keys does not answer' : `refuses ${what}: ${code}`,
            begun,
          );
        return isNotRun ? NOT_RUN : undefined;
      },
    );
    const first = await Promise.race([result, deadline]);
    clearTimeout(timer);
    return first;
  }

  const call: RedisCall = async (call, onLate) => {
    const end = performance.now() + patienceMs;
    for (;;) {
      const outcome = await attempt(call, onLate);
      if (outcome !== NOT_RUN) return outcome;
      if (performance.now() + AGAIN_MS >= end) return undefined;
      await sleep(AGAIN_MS);
    }
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
