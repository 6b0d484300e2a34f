/** Calls of Redis that a request waits for briefly, or not at all while Redis is slow, refuses them or is unreachable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterPendingReads } from '../../../lib/event-loop.ts';
import type { AvailabilityMonitor } from '../../availability.ts';
import { createLateness } from './lateness.ts';
import { CONNECTION, type Outages } from './outages.ts';
import { FIRST_MS, type Pause, createPause } from './pause.ts';

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
  pause?: Pause;
}

/** What the channels of a connection share. */
export interface ChannelParts {
  connection: { redis: { status: string } };
  outages: Outages;
  /** Whether the server with the keys answers. */
  node: Pick<AvailabilityMonitor, 'onSuccess' | 'onFailure'>;
  /** Called with the first word of an error reply. */
  onRefusal: (code: string) => void;
  /** Called for each reply that is late. */
  onLate: (what: string) => void;
}

const AGAIN_MS = 100;
/** A slow Redis may be quick again at any time, and one late call costs a moment: its pause is never long. */
const LATE_MS = 5_000;
/** How long lateness counts without further calls. */
const FORGOTTEN_MS = 60_000;
const NOT_RUN = Symbol('not run');
/** Errors of commands that Redis has not run, and may run in a moment. */
const NOT_RUN_CODES = /^(TRYAGAIN|ASK|MOVED|CLUSTERDOWN|MASTERDOWN|LOADING|READONLY|BUSY)$/;
const MOVING_CODES = /^(TRYAGAIN|ASK|MOVED)$/;

export type ChannelHandle = ReturnType<typeof createChannel>;

/** Calls of one kind. No other is made during a pause, which grows, after one that was refused, or while most are late. */
export function createChannel(parts: ChannelParts, { pause = createPause(), ...options }: ChannelOptions) {
  const { connection, outages } = parts;
  const { timeoutMs, patienceMs = 0 } = options;
  const outcomes = createOutcomes(parts, { ...options, patienceMs, pause });

  async function attempt<Result>(call: () => Promise<Result>, onLate?: (result: Result) => void) {
    const { redis } = connection;
    if (redis.status !== 'ready') return outages.has(CONNECTION) ? undefined : NOT_RUN;
    if (pause.isOn()) return undefined;
    const answersBefore = outcomes.answers();
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<undefined>((resolve) => {
      timer = setTimeout(afterPendingReads, timeoutMs, () => {
        isLate = true;
        outcomes.onLateness(answersBefore);
        resolve(undefined);
      });
    });
    const result = call().then(
      (value) => {
        outcomes.onResult(isLate);
        return isLate ? void onLate?.(value) : value;
      },
      (error: unknown) => outcomes.onError(error as Error, redis),
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
  /** Called for a new connection: outcomes of the last one do not count for it. */
  const restart = (): void => {
    pause.end();
    outcomes.forget();
  };
  return { call, restart };
}

/** What the outcomes of the calls of a channel say of Redis. */
function createOutcomes(
  { connection, outages, node, onRefusal, onLate }: ChannelParts,
  options: ChannelOptions & Required<Pick<ChannelOptions, 'patienceMs' | 'pause'>>,
) {
  const { what, patienceMs, pause, longestPauseMs } = options;
  const lateness = createLateness();
  // Redis may answer reads in time and refuse writes, so each kind of call has causes of its own.
  const late = `late ${what}`;
  const refused = `refused ${what}`;
  let answers = 0;
  let forgetting: NodeJS.Timeout | undefined;

  function forget(): void {
    clearTimeout(forgetting);
    lateness.forget();
    outages.end(late);
  }
  return {
    /** How many calls were in time. */
    answers: (): number => answers,
    forget,
    /** `redis` is the client that made the call. One that has lost its connection or was replaced makes no other. */
    onError(error: Error, redis: { status: string }): typeof NOT_RUN | undefined {
      if (redis !== connection.redis || redis.status !== 'ready') return undefined;
      const code = replyCodeOf(error);
      const isNotRun = code !== undefined && NOT_RUN_CODES.test(code);
      if (!isNotRun || patienceMs === 0) pause.grow(isNotRun && MOVING_CODES.test(code) ? FIRST_MS : longestPauseMs);
      // The client of a cluster stays ready while any node answers, so only the calls show that the node with the keys is lost.
      if (code === undefined) return void node.onFailure('the node with the keys does not answer');
      onRefusal(code);
      if (code === 'CLUSTERDOWN') node.onFailure(code, true);
      else outages.begin(refused, `refuses ${what}: ${code}`, true);
      return isNotRun ? NOT_RUN : undefined;
    },
    onResult(isLate: boolean): void {
      node.onSuccess();
      outages.end(refused);
      if (isLate) return;
      answers++;
      lateness.note(false);
      if (lateness.isSlow()) return void forgetting?.refresh();
      pause.end();
      outages.end(late);
    },
    onLateness(answersBefore: number): void {
      onLate(what);
      lateness.note(true);
      if (!lateness.isSlow() && answers > answersBefore) return;
      pause.grow(Math.min(LATE_MS, longestPauseMs ?? LATE_MS));
      if (!lateness.isSlow()) return;
      outages.begin(late, 'no answer in time');
      clearTimeout(forgetting);
      forgetting = setTimeout(forget, FORGOTTEN_MS).unref();
    },
  };
}

/** The first word of an error reply of Redis; undefined if the error is of another kind. */
function replyCodeOf({ name, message }: Error): string | undefined {
  const [, last] = /^Too many Cluster redirections\. Last error: ReplyError: ([A-Z]+)/.exec(message) ?? [];
  if (last !== undefined) return last;
  return name === 'ReplyError' ? (/^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR') : undefined;
}
