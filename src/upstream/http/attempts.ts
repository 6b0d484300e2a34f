/** One HTTP request: waits for a connection, checks the circuit breaker, reads the whole response, and retries where that may help. */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, errors } from 'undici/index.js';
import type { Config } from '../../config/settings.ts';
import { afterPendingReads, atEndOfTick } from '../../lib/event-loop.ts';
import {
  type CancellationListener,
  type CancellationToken,
  addListener,
  removeListener,
} from '../../lib/cancellation.ts';
import type { BreakerPermit, CircuitBreaker } from '../limits/circuit-breaker.ts';
import type { QueueNode, Semaphore } from '../limits/semaphore.ts';
import { requestLine } from '../../api/api-request.ts';
import { UpstreamFailure } from '../errors.ts';
import type { HttpRequest } from './request.ts';
import {
  type HttpResponse,
  InvalidResponse,
  type ResponseHeaders,
  decodeBody,
  headersOf,
  inflate,
} from './response.ts';
import { retryAfterOf } from './retry-after.ts';
import {
  isConnectionLoss,
  isReset,
  isTimeout,
  isUnreachable,
  outageReason,
  ownTrouble,
  transportFailure,
} from './transport-errors.ts';

/** What the requests to one service share. */
export interface HostPool {
  origin: string;
  /** Path of the base URL, without a slash at the end. */
  path: string;
  pool: Dispatcher;
  breaker: CircuitBreaker;
  /** The calls at once. */
  limiter: Semaphore;
  settings: Pick<Config, 'callTimeoutMs' | 'readAttempts'>;
}

const GATEWAY_FAILURES = [502, 503, 504];
/** The service or its gateway answers nobody: another attempt may succeed. */
export const isGatewayFailure = (status: number): boolean => GATEWAY_FAILURES.includes(status);

/** The longest pause before the second attempt. It doubles before each further attempt; the actual pause is random, from 0 to that. */
const FIRST_PAUSE_MS = 120;
export const longestPauseMs = (attemptsMade: number): number => FIRST_PAUSE_MS * 2 ** (attemptsMade - 1);

export class HttpAttempts implements Dispatcher.DispatchHandler, CancellationListener {
  /** Why it was stopped: cancelled, or past its deadline. */
  private stopped: Error | undefined = undefined;
  private isSettled = false;
  /** The result of the last attempt, during the pause before the next one. */
  private lastResult: HttpResponse | UpstreamFailure | undefined = undefined;
  private attempts = 0;
  /** An attempt may have reached the service. */
  private wasSent = false;
  /** When the current attempt began. */
  private begun = 0;
  /** Time of the previous attempts, in ms. */
  private spentMs = 0;
  private deadline: NodeJS.Timeout | undefined = undefined;
  private queueNode: QueueNode | undefined = undefined;
  private permit: BreakerPermit | undefined = undefined;
  private abort: ((reason?: Error) => void) | undefined = undefined;
  private status = 0;
  private headers: ResponseHeaders = noHeaders;
  private size = 0;
  private chunks: Buffer[] = [];

  private readonly host: HostPool;
  private readonly request: HttpRequest;
  private readonly cancellation: CancellationToken;
  private readonly resolve: (response: HttpResponse) => void;
  private readonly reject: (reason: unknown) => void;

  constructor(
    host: HostPool,
    request: HttpRequest,
    cancellation: CancellationToken,
    resolve: (response: HttpResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.host = host;
    this.request = request;
    this.cancellation = cancellation;
    this.resolve = resolve;
    this.reject = reject;
  }

  start(): void {
    addListener(this.cancellation, this);
    this.attempt();
  }

  /** Waits for a connection if all are busy. */
  private attempt(): void {
    const { limiter } = this.host;
    this.queueNode = undefined;
    if (this.stopped) this.settle(this.notSent(this.stopped));
    else if (limiter.enter()) this.begin();
    // Operations take turns, so that one with many calls does not delay another.
    else this.queueNode = limiter.wait(this.request.owner ?? this.cancellation, () => this.begin());
  }

  private begin(): void {
    const { breaker, limiter, origin, path, pool } = this.host;
    const refusal = this.queueNode && !this.wasSent ? this.request.refusal?.() : undefined;
    if (refusal) {
      limiter.leave();
      return this.settle(refusal);
    }
    const { service, method, path: wirePath, headers, body = null, owner = this.cancellation } = this.request;
    this.permit = breaker.acquire(owner);
    if (!this.permit) {
      limiter.leave();
      const reason = 'not sent: the service was down a moment ago';
      const options = { wasSent: this.wasSent, retryAfter: breaker.secondsLeft() };
      const details = { service, request: requestLine(method, wirePath) };
      return this.settle(new UpstreamFailure('UPSTREAM_UNAVAILABLE', details, reason, options));
    }
    this.attempts++;
    this.begun = performance.now();
    this.status = 0;
    // The service's time begins at the last byte of a form.
    if (body instanceof Readable && !body.readableEnded) body.once('end', () => this.startDeadline());
    else this.startDeadline();
    try {
      pool.dispatch({ origin, path: path + wirePath, method, headers, body }, this);
    } catch (error) {
      this.onError(error as Error);
    }
  }

  /**
   * The deadline of all attempts of a request together. Bytes that arrive slowly do not extend it. Waiting for a connection and pauses
   * between attempts do not count: they are not the service's time.
   */
  private startDeadline(): void {
    if (this.isSettled) return;
    const deadline = setTimeout(afterPendingReads, this.host.settings.callTimeoutMs - this.spentMs, () => {
      if (this.deadline === deadline) this.onCancel(new errors.BodyTimeoutError('the call took too long'));
    }).unref();
    this.deadline = deadline;
  }

  /** The attempt is over. */
  private leave(): void {
    this.spentMs += performance.now() - this.begun;
    clearTimeout(this.deadline);
    this.deadline = undefined;
    this.host.limiter.leave();
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.request.mayBegin?.() === false) this.stopped ??= new Error('the record of the write is too old');
    if (this.stopped) return abort(this.stopped); // before a byte was sent
    this.abort = abort;
    this.wasSent = true;
    this.status = this.size = 0;
    this.headers = noHeaders;
    this.chunks = [];
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    this.status = status;
    this.headers = headersOf(headers);
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.size += chunk.length;
    const { maxBytes } = this.request;
    if (this.size > maxBytes) this.abort?.(new InvalidResponse(`a body over ${maxBytes} bytes`));
    else this.chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    completed.add(this);
  }

  decode(): void {
    const { chunks, headers, request } = this;
    const encoding = headers['content-encoding'];
    try {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      const body = encoding === undefined ? bytes : inflate(bytes, encoding, request.maxBytes);
      if (body instanceof Promise)
        body.then((inflated) => this.respond(inflated)).catch((error: Error) => this.onError(error));
      else this.respond(body);
    } catch (error) {
      this.onError(error as Error);
    }
  }

  /** Without a body: its status and headers say enough. */
  private respond(body?: Buffer): void {
    const { status, headers, attempts } = this;
    const { text, isMended } = body ? decodeBody(body, headers['content-type']) : noText;
    const retryAfter = status < 400 ? undefined : retryAfterOf(headers);
    const response: HttpResponse = { status, headers, text, isMended, bytes: body?.length ?? 0, attempts, retryAfter };
    this.permit!.onSuccess();
    if (retryAfter) {
      // The pause begins before a waiting call gets the connection.
      this.settle(response);
      return void setImmediate(() => this.leave());
    }
    this.leave();
    if (status >= 500 && isGatewayFailure(status) && this.mayRetry()) void this.retry(response);
    else this.settle(response);
  }

  onError(error: Error): void {
    // An error whose body cannot be read, for whatever reason, is an error all the same.
    if (this.status >= 300) return this.respond();
    const { permit, cancellation, request } = this;
    if (cancellation.reason || ownTrouble(error)) permit!.release();
    else if (isUnreachable(error) || isTimeout(error)) permit!.onFailure(outageReason(error), this.begun);
    else permit!.onSuccess(); // an invalid response is a response
    this.leave();
    if (this.isSettled) return;
    const failure = transportFailure(request, error, this.wasSent || isReset(error), cancellation);
    if (isConnectionLoss(error) && this.mayRetry()) void this.retry(failure);
    else this.settle(failure);
  }

  onCancel(reason: Error): void {
    this.stopped ??= reason;
    if (this.abort) return this.abort(reason);
    if (this.lastResult) return this.settle(this.lastResult);
    if (this.queueNode) this.host.limiter.cancelWait(this.queueNode);
    this.settle(this.notSent(reason));
  }

  /** It waits in the queue or for the connection: this attempt was not sent. */
  private notSent(reason: Error): UpstreamFailure {
    return transportFailure(this.request, reason, this.wasSent, this.cancellation);
  }

  private mayRetry(): boolean {
    const { readAttempts, callTimeoutMs } = this.host.settings;
    const hasTime = !this.stopped && this.spentMs < callTimeoutMs;
    return hasTime && this.request.method === 'GET' && this.attempts < readAttempts;
  }

  /** Retries after a pause, unless it was stopped or the rate limiter gives no permit; then the last result is final. */
  private async retry(lastResult: HttpResponse | UpstreamFailure): Promise<void> {
    this.abort = undefined;
    this.lastResult = lastResult;
    await sleep(Math.random() * longestPauseMs(this.attempts));
    if (this.isSettled) return;
    this.lastResult = undefined;
    if ((await this.request.chargeRetry?.()) === false || this.stopped) this.settle(lastResult);
    else this.attempt();
  }

  private settle(result: HttpResponse | Error): void {
    if (this.isSettled) return;
    this.isSettled = true;
    removeListener(this.cancellation, this);
    if (result instanceof UpstreamFailure) result.attempts = this.attempts;
    if (result instanceof Error) this.reject(result);
    else this.resolve(result);
  }
}

const completed = atEndOfTick<HttpAttempts>((all) => {
  for (const attempts of all) attempts.decode();
});

const noText = { text: '', isMended: false };
const noHeaders: ResponseHeaders = Object.freeze({});
