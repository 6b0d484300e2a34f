/**
 * One request on its way: past the breaker and the gate, onto the wire, to the last byte of its answer, and once more where that may help.
 *
 * Its body is wanted whole or not at all, so there is no stream between.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, errors } from 'undici';
import { createBatch } from '../../lib/batch.ts';
import type { CircuitBreaker, BreakerPermit } from '../limits/circuit-breaker.ts';
import { type DeadlineQueue, type Deadline, type DeadlineListener, afterPendingReads } from '../../lib/deadlines.ts';
import { transportFailure, isConnectionLoss, isTimeout, isUnreachable, errorDetails } from './transport-errors.ts';
import type { ConcurrencyLimiter, QueuedCall } from '../limits/concurrency.ts';
import {
  type CancellationToken,
  type CancellationListener,
  removeListener,
  addListener,
} from '../../lib/cancellation.ts';
import { errorCodeOf } from '../availability.ts';
import { InvalidResponse, inflate, requireUtf8 } from './response-body.ts';
import { UpstreamFailure } from '../errors.ts';
import type { ResponseHeaders, HttpResponse, HttpRequest } from './request.ts';

/** The way to one service. */
export interface HostPool {
  origin: string;
  /** Of its base address, without a slash at the end. */
  path: string;
  pool: Dispatcher;
  breaker: CircuitBreaker;
  gate: ConcurrencyLimiter;
  /**
   * Deadline of all attempts of one request together. Slowly arriving bytes do not extend it. Waiting for a connection, and the pause
   * between attempts, do not count, because they are not the service's time.
   */
  callTimeoutMs: number;
  /** Measures that deadline. */
  clock: DeadlineQueue;
  /** How often a read is tried at most. */
  readAttempts: number;
}

export function send(way: HostPool, request: HttpRequest, asker: CancellationToken): void {
  new HttpAttempts(way, request, asker).start();
}

export const unavailable = (request: Pick<HttpRequest, 'service' | 'requestLine'>) =>
  new UpstreamFailure('UPSTREAM_UNAVAILABLE', errorDetails(request), 'not asked: it was down a moment ago');

const GATEWAY_FAILURES = [502, 503, 504];

class HttpAttempts implements Dispatcher.DispatchHandler, CancellationListener, DeadlineListener {
  /** Why it is over before its end; once it is over, whatever happens tells nothing. */
  private ended: Error | undefined = undefined;
  private isOver = false;
  /** Between two attempts: ends it with what came of the last. */
  private settleNow: (() => void) | undefined = undefined;
  private attempts = 0;
  /** When the last of them was let in. */
  private begun = 0;
  /** Time of the previous attempts, in ms. */
  private spentMs = 0;
  private ticking: Deadline | undefined = undefined;
  /** Used instead of the clock for a retry, whose remaining time is shorter. */
  private timer: NodeJS.Timeout | undefined = undefined;
  private waiting: QueuedCall | undefined = undefined;
  private passage: BreakerPermit | undefined = undefined;
  private abort: ((reason?: Error) => void) | undefined = undefined;
  private status = 0;
  private headers: ResponseHeaders = noHeaders;
  private size = 0;
  private first: Buffer | undefined = undefined;
  private more: Buffer[] | undefined = undefined;

  private readonly way: HostPool;
  private readonly request: HttpRequest;
  private readonly asker: CancellationToken;

  constructor(way: HostPool, request: HttpRequest, asker: CancellationToken) {
    this.way = way;
    this.request = request;
    this.asker = asker;
  }

  start(): void {
    addListener(this.asker, this);
    this.try();
  }

  private startClock(): void {
    const { body } = this.request;
    // A form arrives as fast as the client sends it, so the service is timed from its last byte.
    if (body instanceof Readable && !body.readableEnded) body.once('end', () => this.tick());
    else this.tick();
  }

  private tick(): void {
    if (this.isOver) return;
    const { clock, callTimeoutMs } = this.way;
    if (this.spentMs === 0) this.ticking = clock.start(this);
    else {
      const timer = setTimeout(afterPendingReads, callTimeoutMs - this.spentMs, () => {
        if (this.timer === timer) this.onDeadline();
      }).unref();
      this.timer = timer;
    }
  }

  /** One attempt, as soon as there is room for it. */
  private try(): void {
    const { breaker, gate } = this.way;
    this.attempts++;
    if (this.ended) this.fail(transportFailure(this.request, this.ended, false, this.asker));
    else if (breaker.isRefusing()) this.fail(unavailable(this.request));
    else if (!(this.waiting = gate.acquire(this.request.owner ?? this.asker, () => this.begin()))) this.begin();
  }

  private begin(): void {
    const { breaker, origin, path, pool } = this.way;
    this.passage = breaker.acquire();
    this.begun = performance.now();
    if (!this.passage) {
      this.leave();
      return this.fail(unavailable(this.request));
    }
    this.abort = undefined;
    this.startClock();
    try {
      const { method, path: asked, headers, body = null } = this.request;
      pool.dispatch({ origin, path: path + asked, method, headers, body }, this);
    } catch (error) {
      this.onError(error as Error);
    }
  }

  private leave(): void {
    const tookMs = performance.now() - this.begun;
    this.spentMs += tookMs;
    this.stopClock();
    this.way.gate.release(tookMs);
  }

  private stopClock(): void {
    if (this.ticking) this.way.clock.stop(this.ticking);
    clearTimeout(this.timer);
    this.ticking = this.timer = undefined;
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.ended) return abort(this.ended); // before a byte of it was sent
    this.abort = abort;
    this.status = 0;
    this.headers = noHeaders;
    this.size = 0;
    this.first = this.more = undefined;
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    this.status = status;
    this.headers = headersOf(headers);
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.request.maxBytes)
      this.abort?.(new InvalidResponse(`a body over ${this.request.maxBytes} bytes`));
    else if (!this.first) this.first = chunk;
    else (this.more ??= [this.first]).push(chunk);
    return true;
  }

  onComplete(): void {
    whole.add(this);
  }

  /** Its whole answer is there. */
  completed(): void {
    const { first = nothing, more } = this;
    let bytes: Buffer | Promise<Buffer>;
    try {
      const body = more ? Buffer.concat(more) : first;
      bytes = inflate(body, this.headers['content-encoding'], this.request.maxBytes);
    } catch (error) {
      return this.onError(error as Error);
    }
    if (!(bytes instanceof Promise)) return this.came(bytes);
    bytes.then(
      (all) => this.came(all),
      (error: unknown) => this.onError(error as Error),
    );
  }

  private came(bytes: Buffer): void {
    const { status, headers } = this;
    let body: Buffer;
    try {
      body = requireUtf8(bytes);
    } catch (error) {
      return this.onError(error as Error);
    }
    const answer: HttpResponse = { status, headers, body, attempts: this.attempts };
    this.passage?.onSuccess();
    this.leave();
    if (GATEWAY_FAILURES.includes(status) && this.mayTryAgain()) void this.tryAgain(() => this.succeed(answer));
    else this.succeed(answer);
  }

  onError(error: Error): void {
    settle(this.passage!, error, this.asker.reason !== undefined);
    this.leave();
    if (this.isOver) return;
    const fault = transportFailure(this.request, error, true, this.asker);
    if (isConnectionLoss(error) && this.mayTryAgain()) void this.tryAgain(() => this.fail(fault));
    else this.fail(fault);
  }

  /** The asker is gone, or the call has taken its time. */
  onCancel(reason: Error): void {
    this.ended ??= reason;
    if (this.abort) return this.abort(reason);
    if (this.settleNow) return this.settleNow();
    // In the line, or on the way to a connection: nothing of it is on the wire.
    if (this.waiting) this.way.gate.cancelWait(this.waiting);
    this.fail(transportFailure(this.request, reason, false, this.asker));
  }

  onDeadline(): void {
    this.onCancel(new errors.BodyTimeoutError('the call took too long'));
  }

  private mayTryAgain(): boolean {
    const { readAttempts, callTimeoutMs } = this.way;
    return this.request.method === 'GET' && this.attempts < readAttempts && this.spentMs < callTimeoutMs;
  }

  /** Waits a while and tries again; what came is the end of it where there is no time or no budget left. */
  private async tryAgain(orElse: () => void): Promise<void> {
    this.abort = undefined;
    this.settleNow = orElse;
    await sleep(Math.random() * 60 * 2 ** this.attempts);
    if (this.isOver) return;
    this.settleNow = undefined;
    if ((await this.request.payer?.payAgain()) === false || this.ended) orElse();
    else this.try();
  }

  private succeed(answer: HttpResponse): void {
    if (this.isOver) return;
    this.close();
    try {
      this.request.answered(answer);
    } catch (error) {
      alone(error);
    }
  }

  private fail(fault: unknown): void {
    if (this.isOver) return;
    this.close();
    try {
      this.request.unanswered(fault);
    } catch (error) {
      alone(error);
    }
  }

  private close(): void {
    this.isOver = true;
    this.stopClock();
    removeListener(this.asker, this);
    // A form that was not sent, or not to its end, lets go of its files.
    if (this.request.body instanceof Readable) this.request.body.destroy();
  }
}

/** Whoever was told failed at it: a defect of ours, which is to be seen and costs nobody else their answer. */
const alone = (error: unknown): void => void Promise.reject(error instanceof Error ? error : new Error(String(error)));

const whole = createBatch<HttpAttempts>((sending) => sending.completed());

function settle(passage: BreakerPermit, error: unknown, isOver: boolean): void {
  if (isOver) passage.release();
  else if (isUnreachable(error) || isTimeout(error)) passage.onFailure(errorCodeOf(error));
  else passage.onSuccess(); // nonsense is an answer too
}

const nothing = Buffer.alloc(0);
const noHeaders: ResponseHeaders = Object.freeze({});
const readHeaders: readonly (keyof ResponseHeaders)[] = [
  'age',
  'cache-control',
  'content-encoding',
  'date',
  'expires',
  'retry-after',
  'vary',
];

/** Names and values in turn. */
function headersOf(raw: readonly Buffer[]): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!;
    for (const known of readHeaders) {
      if (name.length !== known.length || name.toString('latin1').toLowerCase() !== known) continue;
      const value = raw[at + 1]!.toString('latin1');
      headers[known] = headers[known] === undefined ? value : `${headers[known]}, ${value}`;
    }
  }
  return headers;
}
