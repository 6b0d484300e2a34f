/** One call as it is made: paid for, sent, read, and learned from. */
import { Readable } from 'node:stream';
import type { Endpoint } from '../../api/endpoint.ts';
import type { RateLimiter, RateLimitPermit } from '../limits/rate-limiter.ts';
import { cacheabilityOf } from '../cache/caching-header.ts';
import type { Credential, Credentials } from '../auth/credentials.ts';
import { errorDetails } from './transport-errors.ts';
import type { InFlightListener, InFlightRequest, InFlightRequests } from './in-flight.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import { redactOwner } from '../cache/redact.ts';
import {
  UpstreamFailure,
  UpstreamRejection,
  type UpstreamErrorDetails,
  isAbsent,
  isRateLimit,
  isTokenRejection,
} from '../errors.ts';
import { type ObservedCall, type Span, addTraceHeaders, childSpan } from '../trace-context.ts';
import { learnFromResponse, learnFromRejection } from '../auth/tiers.ts';
import { type CallLog, type LoggedCall, sinceStart } from '../call-log.ts';
import type { Transport } from './pool.ts';
import {
  type ApiResponse,
  type ApiRequest,
  type RequestBody,
  ErrorBody,
  type Payer,
  type ResponseHandler,
  type HttpResponse,
  type HttpRequest,
  errorCodeIn,
  decodeResponse,
  requestLine,
  parseRetryAfter,
} from './request.ts';

export interface CallSettings {
  maxJsonBytes: number;
  maxAtomBytes: number;
  maxUpstreamCalls: number;
}

export interface CallParts {
  settings: CallSettings;
  transport: Transport;
  credentials: Credentials;
  flights: InFlightRequests;
  budget: RateLimiter;
  /** Upstream does not know the token: nothing that was read with it may be shown again. */
  onRejected: (credential: Credential) => void;
  observe: (seen: ObservedCall) => void;
}

export interface OperationContext {
  /** What came as Authorization is no bearer token. */
  isUnreadable: boolean;
  credential: Credential;
  trace: CallLog;
  lifetime: CancellationToken;
  requestId: string;
  address: string;
  /** The operation, where somebody follows it. */
  span?: Span | undefined;
}

/** It is also the request itself, as the transport wants it. */
export class UpstreamCall implements InFlightListener, Payer, HttpRequest {
  readonly traced: LoggedCall;
  readonly lifetime: CancellationToken;
  readonly span: Span | undefined;
  body: string | Readable | undefined = undefined;
  private contentType: string | undefined = undefined;
  /** Why the files of its body could not be sent. */
  private cause: (() => unknown) | undefined = undefined;
  /** Those who wait for it, of a read. */
  private flight: InFlightRequest | undefined = undefined;
  private paid: RateLimitPermit | undefined = undefined;
  private paidAgain: RateLimitPermit[] | undefined = undefined;
  private isSettled = false;

  private readonly parts: CallParts;
  private readonly caller: OperationContext;
  private readonly asked: ApiRequest;
  /** Names that were asked for beside what is wanted. */
  private readonly telling: readonly string[];
  private readonly credential: Credential;
  private readonly recipient: ResponseHandler;

  constructor(
    parts: CallParts,
    caller: OperationContext,
    asked: ApiRequest,
    telling: readonly string[],
    credential: Credential,
    traced: LoggedCall,
    recipient: ResponseHandler,
  ) {
    const { lifetime, span } = caller;
    this.traced = traced;
    this.lifetime = lifetime;
    this.span = span && childSpan(span);
    this.parts = parts;
    this.caller = caller;
    this.asked = asked;
    this.telling = telling;
    this.credential = credential;
    this.recipient = recipient;
  }

  /** A write is nobody else's. */
  write({ body, contentType, cause }: RequestBody): void {
    this.body = body;
    this.contentType = contentType;
    this.cause = cause;
    this.start(this.lifetime);
  }

  send(flight: InFlightRequest): void {
    this.flight = flight;
    this.start(flight.lifetime);
  }

  onResponse(answer: ApiResponse): void {
    this.traced.status ??= answer.status;
    try {
      this.end();
    } finally {
      this.recipient.onResponse(answer);
    }
  }

  onError(failure: unknown): void {
    const reason = this.told(failure);
    try {
      this.end();
      // What was never sent lets go of its files too.
      if (this.body instanceof Readable) this.body.destroy();
    } finally {
      this.recipient.onError(reason);
    }
  }

  private end(): void {
    const { traced, span } = this;
    const { endpoint } = this.asked;
    const { trace } = this.caller;
    // A read that began before a write does not answer for one that comes after it.
    if (endpoint.method !== 'GET') this.parts.flights.forget(this.credential);
    traced.ms = sinceStart(trace) - traced.startMs;
    if (!traced.coalesced) this.parts.observe({ endpoint, outcome: outcomeOf(traced), ms: traced.ms, span });
  }

  private start(lifetime: CancellationToken): void {
    try {
      this.parts.transport.refuseDown(this);
      const paid = this.parts.budget.acquire(this.asked.endpoint, this.credential, this.caller.address, lifetime);
      if (paid instanceof Promise)
        paid.then((each) => this.sendPaid(each, lifetime)).catch((error: unknown) => this.unanswered(error));
      else this.sendPaid(paid, lifetime);
    } catch (error) {
      this.unanswered(error);
    }
  }

  private sendPaid(paid: RateLimitPermit, lifetime: CancellationToken): void {
    try {
      if (lifetime.reason) throw operationEnded(this.asked.endpoint, this.requestLine, lifetime.reason);
      // The token may have been rejected while the call waited.
      this.parts.credentials.rejections.repeat(this.credential.id, this.service, this.requestLine);
    } catch (error) {
      paid.release();
      throw error;
    }
    this.paid = paid;
    this.parts.transport.send(this, lifetime);
  }

  answered(answer: HttpResponse): void {
    const { asked, credential, traced, telling, flight } = this;
    const { endpoint, input } = asked;
    let came: ApiResponse;
    try {
      traced.status = answer.status;
      traced.bytes = answer.body.length;
      if (answer.attempts > 1) traced.attempts = answer.attempts;
      came = this.read(answer);
      if (came.value !== null) learnFromResponse(credential, endpoint, came.value);
      if (telling.length) strike(came.value, telling, (input as { fields: string }).fields.split(','));
    } catch (error) {
      return this.unanswered(error);
    }
    this.settle(false);
    if (flight) flight.landed(came);
    else this.onResponse(came);
  }

  unanswered(fault: unknown): void {
    this.settle(fault instanceof UpstreamRejection && isTokenRejection(fault.details));
    if (this.flight) this.flight.failed(fault);
    else this.onError(fault);
  }

  async payAgain(): Promise<boolean> {
    const { credential, asked } = this;
    try {
      const { lifetime } = this.flight ?? this;
      const pay = this.parts.budget.acquire(asked.endpoint, credential, this.caller.address, lifetime, true);
      const paid = pay instanceof Promise ? await pay : pay;
      // It may have ended meanwhile.
      if (this.isSettled) paid.release();
      else (this.paidAgain ??= []).push(paid);
      return !this.isSettled;
    } catch {
      return false;
    }
  }

  private settle(wasRejected: boolean): void {
    this.isSettled = true;
    this.paid?.settle(wasRejected);
    if (this.paidAgain) for (const each of this.paidAgain) each.settle(wasRejected);
  }

  /** What is told of a failure: the trace is, and what it teaches is learned. */
  private told(failure: unknown): unknown {
    const { endpoint } = this.asked;
    const { reason } = this.lifetime;
    const error = reason && failure === reason ? operationEnded(endpoint, this.requestLine, failure) : failure;
    // A file that was refused cut its form: that is what happened, whatever the connection made of it.
    const cause = this.cause?.();
    if (cause !== undefined) return cause;
    this.traced.error = error instanceof UpstreamFailure ? error.code : (error as Error).name;
    if (!(error instanceof UpstreamRejection)) return error;
    if (error.details.status !== undefined) this.traced.status ??= error.details.status;
    return learnFromRejection(this.credential, endpoint, error);
  }

  get service() {
    return this.asked.endpoint.service;
  }
  get method() {
    return this.asked.endpoint.method;
  }
  get path() {
    return this.asked.wirePath;
  }
  get requestLine() {
    return requestLine(this.asked);
  }
  get owner() {
    return this.caller.lifetime;
  }
  get payer() {
    return this;
  }
  get maxBytes() {
    const { settings } = this.parts;
    return this.asked.endpoint.media === 'json' ? settings.maxJsonBytes : settings.maxAtomBytes;
  }
  get headers() {
    const { span, contentType } = this;
    const { media } = this.asked.endpoint;
    const headers = ['accept', media === 'json' || media === 'empty' ? 'application/json' : 'application/atom+xml'];
    headers.push('accept-encoding', 'gzip', 'x-request-id', this.caller.requestId);
    if (span) addTraceHeaders(span, headers);
    const { authorization } = this.credential;
    if (authorization !== undefined) headers.push('authorization', authorization);
    if (contentType) headers.push('content-type', contentType);
    return headers;
  }

  private read(answer: HttpResponse): ApiResponse {
    const { credential } = this;
    const { endpoint } = this.asked;
    const { budget, credentials, onRejected } = this.parts;
    const { status, headers, body } = answer;
    const bytes = body.length;
    const isSuccess = status >= 200 && status < 300;
    const decoded = isSuccess ? decodeResponse(this.asked, body, status) : undefined;
    if (isSuccess && !(decoded instanceof ErrorBody)) {
      credentials.accept(credential, endpoint.service);
      const value = redactOwner(endpoint, credential, decoded);
      return { value, bytes, status, reuse: cacheabilityOf(headers) };
    }
    const word: UpstreamErrorDetails = { ...errorDetails(this), status };
    if (status < 400 && !isSuccess) throw new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', word, `status ${status}`);
    const code = decoded instanceof ErrorBody ? decoded.code : errorCodeIn(body);
    const known = code === undefined ? word : { ...word, code };
    if (endpoint.method === 'GET' && isAbsent(endpoint, status, code)) {
      if (code !== undefined) credentials.accept(credential, endpoint.service);
      return { value: null, bytes, status, reuse: { noStore: true, isPrivate: false, maxAge: 0 } };
    }
    if (isRateLimit(known)) {
      credentials.accept(credential, endpoint.service);
      if (endpoint.share === 'tier') credential.hasMetLimit = true;
      const retryAfter = budget.pause(endpoint, credential, parseRetryAfter(headers['retry-after']));
      throw new UpstreamRejection(known, retryAfter);
    }
    if (status >= 500) {
      // A write that failed upstream may still have been made. Only a 503 with the service's error body says that it was not begun.
      const isLost = endpoint.method !== 'GET' && !(status === 503 && code !== undefined);
      throw new UpstreamFailure(isLost ? 'UPSTREAM_RESULT_UNKNOWN' : 'UPSTREAM_UNAVAILABLE', known, `status ${status}`);
    }
    if (code === undefined && status !== 401 && status !== 403) {
      throw new UpstreamFailure(
        'UPSTREAM_INVALID_RESPONSE',
        known,
        `status ${status} without the service's error body`,
      );
    }
    if (isTokenRejection(known)) {
      credentials.reject(credential, known);
      onRejected(credential);
    } else if (code !== undefined) credentials.accept(credential, endpoint.service);
    throw new UpstreamRejection(known);
  }
}

/** The operation ended before its call did: a read, or a write that was never sent. */
export const operationEnded = ({ service }: Endpoint, request: string, cause: unknown): UpstreamFailure =>
  new UpstreamFailure('UPSTREAM_TIMEOUT', { service, request }, 'the operation has ended', { cause });

/** What a refusal says is its status; what a fault says is its name. */
const outcomeOf = ({ error, status }: LoggedCall): string =>
  error === undefined || /^(Upstream|Coded)Rejection$/.test(error) ? String(status ?? 'none') : error;

/** Removes names that were requested only to learn the tier. A whole record of an upstream that ignores `fields` stays whole. */
function strike(value: unknown, names: readonly string[], asked: readonly string[]): void {
  const record = value as Record<string, unknown> | null;
  if (record === null || Object.keys(record).some((name) => !asked.includes(name))) return;
  for (const name of names) delete record[name];
}
