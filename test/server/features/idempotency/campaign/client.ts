/** A client as a phone is: it asks again with its key, soon and then when it is told to, until its answer is final. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { keyedClient } from '../../../../support/keyed-client.ts';
import type { Random } from '../../../../oracle/random.ts';
import type { Intention } from './intentions.ts';

export const CALL_TIMEOUT_MS = 1_500;
export const SETTLE_MS = 1_500;
/** Of an attempt whose process died nobody knows the end: the longest call, and what the process may take before it. */
const UNKNOWN_END_MS = CALL_TIMEOUT_MS + 2_000 + SETTLE_MS;
/** After the settle time. */
const LATE_ATTEMPTS = 8;
/** With those that say nothing of the outcome. */
const ATTEMPTS = 40;
/** What a client waits while its write still runs. */
const RUNNING_MS = 300;

export interface Answer {
  /** `NO_ANSWER`: the connection was lost, or the client has left. Undefined for a response without errors. */
  code: string | undefined;
  retryAfter?: number | undefined;
  data: object;
}

export interface Asked {
  url: () => string;
  token: string;
  signal?: AbortSignal | undefined;
}

export async function ask({ url, token, signal }: Asked, body: string | FormData, key: string): Promise<Answer> {
  try {
    const { result, code } = await keyedClient(url())(body, key, token, {}, signal);
    // The payloads of an operation may have different errors: the client goes on while one of them passes.
    const errors = (result.errors ?? []) as { extensions: { code: string; retryAfter?: number } }[];
    const found = errors.find(({ extensions }) => isPassing(extensions.code)) ?? errors[0];
    return { code: found?.extensions.code ?? code, retryAfter: found?.extensions.retryAfter, data: result.data ?? {} };
  } catch {
    return { code: 'NO_ANSWER', data: {} };
  }
}

/** Errors after which a client sends the write again. */
const passing = new Set([
  'NO_ANSWER',
  'UPSTREAM_RESULT_UNKNOWN',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
  'RATE_LIMITED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_UNAVAILABLE',
  'TOO_MANY_KEYED_WRITES',
  'OVERLOADED',
]);
const isPassing = (code: string): boolean => passing.has(code);

/** Errors whose `retryAfter` is the end of a pause in which nothing is sent. */
const pauses: ReadonlySet<string | undefined> = new Set(['RATE_LIMITED', 'UPSTREAM_UNAVAILABLE']);

/** Nobody answered, the store of keys cannot be reached, or an attempt before still runs. */
const isNoOutcome = ({ code = '' }: Answer): boolean =>
  ['NO_ANSWER', 'IDEMPOTENCY_UNAVAILABLE', 'IDEMPOTENCY_IN_PROGRESS'].includes(code);

const isFinal = ({ code, retryAfter }: Answer): boolean =>
  code === undefined || !isPassing(code) || (code === 'UPSTREAM_RESULT_UNKNOWN' && retryAfter === undefined);

export interface Pursuit {
  intention: Intention;
  random: Random;
  /** Of the attempt with this number. */
  asked: (attempt: number) => Asked;
  /** After the first attempt. */
  between?: () => Promise<unknown>;
  /** Given if others use it too. */
  key?: string | undefined;
  /** It asks once more after its answer. */
  asksAgain?: boolean | undefined;
}

export interface Pursued {
  code: string | undefined;
  data: object;
  attempts: number;
  /** At the latest by the first answer that came after the settle time. */
  isSettledInTime: boolean;
  refusals: number;
}

export async function pursue(pursuit: Pursuit): Promise<Pursued> {
  const { intention, random, asked, between, key = randomUUID(), asksAgain } = pursuit;
  let attempts = 0;
  let refusals = 0;
  let late = 0;
  const attempt = async () => {
    const answer = await ask(asked(attempts++), intention.body(), key);
    if (answer.code === 'IDEMPOTENCY_UNAVAILABLE') refusals++;
    return answer;
  };

  let answer = await attempt();
  let settleAt = performance.now() + UNKNOWN_END_MS;
  await between?.();
  for (let early = random.int(0, 2); early > 0 && !isFinal(answer); early--) {
    await sleep(random.int(30, 300));
    answer = await attempt();
  }
  await settle();
  const isSettledInTime = answer.code === undefined && late <= 1;
  if (asksAgain && answer.code === undefined) {
    await sleep(random.int(0, 1_000));
    answer = await attempt();
    await settle();
  }
  return { code: answer.code, data: answer.data, attempts, isSettledInTime, refusals };

  async function settle(): Promise<void> {
    while (!isFinal(answer) && late < LATE_ATTEMPTS && attempts < ATTEMPTS) {
      // Later than was told before, if the write was sent again and its response was lost again.
      if (answer.code === 'UPSTREAM_RESULT_UNKNOWN') settleAt = performance.now() + 1_000 * answer.retryAfter!;
      // A pause that the service has asked for, or that the circuit breaker makes, may begin with any attempt.
      const askedMs = pauses.has(answer.code) ? 1_000 * (answer.retryAfter ?? 0) : 0;
      const pauseMs = answer.code === 'IDEMPOTENCY_IN_PROGRESS' ? RUNNING_MS : askedMs;
      await sleep(Math.max(100, pauseMs, settleAt - performance.now()));
      answer = await attempt();
      if (!isNoOutcome(answer)) late++;
    }
  }
}
