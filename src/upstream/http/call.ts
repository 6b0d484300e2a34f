/** One call as it is made: paid for, sent, read, and learned from. */
import { Readable } from 'node:stream';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Budget, Paid } from '../limits/rate-limiter.ts';
import { cacheabilityOf } from '../cache/caching-header.ts';
import type { Credential, Credentials } from '../auth/credentials.ts';
import { wordOf } from './transport-errors.ts';
import type { Asker, Flight, Flights } from './in-flight.ts';
import type { Lifetime } from '../../lib/cancellation.ts';
import { redactOwner } from '../cache/redact.ts';
import { UpstreamFault, UpstreamRefusal, type UpstreamWord, isAbsent, isRateLimit, isRejection } from '../errors.ts';
import { type SeenCall, type Span, addTrace, spanBelow } from '../trace-context.ts';
import { learnFromAnswer, learnFromRefusal } from '../auth/tiers.ts';
import { type CallLog, type LoggedCall, sinceStart } from '../call-log.ts';
import type { Transport } from './pool.ts';
import {
  type Answer,
  type Asked,
  type Body,
  ErrorBody,
  type Payer,
  type Recipient,
  type WireAnswer,
  type WireRequest,
  codeIn,
  decode,
  lineOf,
  retryAfterOf,
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
  flights: Flights;
  budget: Budget;
  /** Upstream does not know the token: nothing that was read with it may be shown again. */
  onRejected: (credential: Credential) => void;
  observe: (seen: SeenCall) => void;
}

export interface Caller {
  /** What came as Authorization is no bearer token. */
  isUnreadable: boolean;
  credential: Credential;
  trace: CallLog;
  lifetime: Lifetime;
  requestId: string;
  address: string;
  /** The operation, where somebody follows it. */
  span?: Span | undefined;
}

/** It is also the request itself, as the transport wants it. */
export class Making implements Asker, Payer, WireRequest {
  readonly traced: LoggedCall;
  readonly lifetime: Lifetime;
  readonly span: Span | undefined;
  body: string | Readable | undefined = undefined;
  private contentType: string | undefined = undefined;
  /** Why the files of its body could not be sent. */
  private cause: (() => unknown) | undefined = undefined;
  /** Those who wait for it, of a read. */
  private flight: Flight | undefined = undefined;
  private paid: Paid | undefined = undefined;
  private paidAgain: Paid[] | undefined = undefined;
  private isSettled = false;

  private readonly parts: CallParts;
  private readonly caller: Caller;
  private readonly asked: Asked;
  /** Names that were asked for beside what is wanted. */
  private readonly telling: readonly string[];
  private readonly credential: Credential;
  private readonly recipient: Recipient;

  constructor(
    parts: CallParts,
    caller: Caller,
    asked: Asked,
    telling: readonly string[],
    credential: Credential,
    traced: LoggedCall,
    recipient: Recipient,
  ) {
    const { lifetime, span } = caller;
    this.traced = traced;
    this.lifetime = lifetime;
    this.span = span && spanBelow(span);
    this.parts = parts;
    this.caller = caller;
    this.asked = asked;
    this.telling = telling;
    this.credential = credential;
    this.recipient = recipient;
  }

  /** A write is nobody else's. */
  write({ body, contentType, cause }: Body): void {
    this.body = body;
    this.contentType = contentType;
    this.cause = cause;
    this.start(this.lifetime);
  }

  send(flight: Flight): void {
    this.flight = flight;
    this.start(flight.lifetime);
  }

  came(answer: Answer): void {
    this.traced.status ??= answer.status;
    try {
      this.end();
    } finally {
      this.recipient.came(answer);
    }
  }

  failed(failure: unknown): void {
    const reason = this.told(failure);
    try {
      this.end();
      // What was never sent lets go of its files too.
      if (this.body instanceof Readable) this.body.destroy();
    } finally {
      this.recipient.failed(reason);
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

  private start(lifetime: Lifetime): void {
    try {
      this.parts.transport.refuseDown(this);
      const paid = this.parts.budget.take(this.asked.endpoint, this.credential, this.caller.address, lifetime);
      if (paid instanceof Promise)
        paid.then((each) => this.sendPaid(each, lifetime)).catch((error: unknown) => this.unanswered(error));
      else this.sendPaid(paid, lifetime);
    } catch (error) {
      this.unanswered(error);
    }
  }

  private sendPaid(paid: Paid, lifetime: Lifetime): void {
    try {
      if (lifetime.ended) throw overdue(this.asked.endpoint, this.line, lifetime.ended);
      // The token may have been rejected while the call waited.
      this.parts.credentials.rejections.repeat(this.credential.id, this.service, this.line);
    } catch (error) {
      paid.notMade();
      throw error;
    }
    this.paid = paid;
    this.parts.transport.send(this, lifetime);
  }

  answered(answer: WireAnswer): void {
    const { asked, credential, traced, telling, flight } = this;
    const { endpoint, input } = asked;
    let came: Answer;
    try {
      traced.status = answer.status;
      traced.bytes = answer.body.length;
      if (answer.attempts > 1) traced.attempts = answer.attempts;
      came = this.read(answer);
      if (came.value !== null) learnFromAnswer(credential, endpoint, came.value);
      if (telling.length) strike(came.value, telling, (input as { fields: string }).fields.split(','));
    } catch (error) {
      return this.unanswered(error);
    }
    this.settle(false);
    if (flight) flight.landed(came);
    else this.came(came);
  }

  unanswered(fault: unknown): void {
    this.settle(fault instanceof UpstreamRefusal && isRejection(fault.word));
    if (this.flight) this.flight.failed(fault);
    else this.failed(fault);
  }

  async payAgain(): Promise<boolean> {
    const { credential, asked } = this;
    try {
      const { lifetime } = this.flight ?? this;
      const pay = this.parts.budget.take(asked.endpoint, credential, this.caller.address, lifetime, true);
      const paid = pay instanceof Promise ? await pay : pay;
      // It may have ended meanwhile.
      if (this.isSettled) paid.notMade();
      else (this.paidAgain ??= []).push(paid);
      return !this.isSettled;
    } catch {
      return false;
    }
  }

  private settle(wasRejected: boolean): void {
    this.isSettled = true;
    this.paid?.ended(wasRejected);
    if (this.paidAgain) for (const each of this.paidAgain) each.ended(wasRejected);
  }

  /** What is told of a failure: the trace is, and what it teaches is learned. */
  private told(failure: unknown): unknown {
    const { endpoint } = this.asked;
    const { ended } = this.lifetime;
    const error = ended && failure === ended ? overdue(endpoint, this.line, failure) : failure;
    // A file that was refused cut its form: that is what happened, whatever the connection made of it.
    const cause = this.cause?.();
    if (cause !== undefined) return cause;
    this.traced.error = error instanceof UpstreamFault ? error.code : (error as Error).name;
    if (!(error instanceof UpstreamRefusal)) return error;
    if (error.word.status !== undefined) this.traced.status ??= error.word.status;
    return learnFromRefusal(this.credential, endpoint, error);
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
  get line() {
    return lineOf(this.asked);
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
    if (span) addTrace(span, headers);
    const { authorization } = this.credential;
    if (authorization !== undefined) headers.push('authorization', authorization);
    if (contentType) headers.push('content-type', contentType);
    return headers;
  }

  private read(answer: WireAnswer): Answer {
    const { credential } = this;
    const { endpoint } = this.asked;
    const { budget, credentials, onRejected } = this.parts;
    const { status, headers, body } = answer;
    const bytes = body.length;
    const isSuccess = status >= 200 && status < 300;
    const decoded = isSuccess ? decode(this.asked, body, status) : undefined;
    if (isSuccess && !(decoded instanceof ErrorBody)) {
      credentials.accept(credential, endpoint.service);
      const value = redactOwner(endpoint, credential, decoded);
      return { value, bytes, status, reuse: cacheabilityOf(headers) };
    }
    const word: UpstreamWord = { ...wordOf(this), status };
    if (status < 400 && !isSuccess) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', word, `status ${status}`);
    const code = decoded instanceof ErrorBody ? decoded.code : codeIn(body);
    const known = code === undefined ? word : { ...word, code };
    if (endpoint.method === 'GET' && isAbsent(endpoint, status, code)) {
      if (code !== undefined) credentials.accept(credential, endpoint.service);
      return { value: null, bytes, status, reuse: { noStore: true, isPrivate: false, maxAge: 0 } };
    }
    if (isRateLimit(known)) {
      credentials.accept(credential, endpoint.service);
      if (endpoint.share === 'tier') credential.hasMetLimit = true;
      const retryAfter = budget.refused(endpoint, credential, retryAfterOf(headers['retry-after']));
      throw new UpstreamRefusal(known, retryAfter);
    }
    if (status >= 500) {
      // A write that failed upstream may still have been made. Only a 503 with the service's error body says that it was not begun.
      const isLost = endpoint.method !== 'GET' && !(status === 503 && code !== undefined);
      throw new UpstreamFault(isLost ? 'UPSTREAM_RESULT_UNKNOWN' : 'UPSTREAM_UNAVAILABLE', known, `status ${status}`);
    }
    if (code === undefined && status !== 401 && status !== 403) {
      throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', known, `status ${status} without the service's error body`);
    }
    if (isRejection(known)) {
      credentials.reject(credential, known);
      onRejected(credential);
    } else if (code !== undefined) credentials.accept(credential, endpoint.service);
    throw new UpstreamRefusal(known);
  }
}

/** The operation ended before its call did: a read, or a write that was never sent. */
export const overdue = ({ service }: Endpoint, request: string, cause: unknown): UpstreamFault =>
  new UpstreamFault('UPSTREAM_TIMEOUT', { service, request }, 'the operation has ended', { cause });

/** What a refusal says is its status; what a fault says is its name. */
const outcomeOf = ({ error, status }: LoggedCall): string =>
  error === undefined || /^(Upstream|Named)Refusal$/.test(error) ? String(status ?? 'none') : error;

/** Removes names that were requested only to learn the tier. A whole record of an upstream that ignores `fields` stays whole. */
function strike(value: unknown, names: readonly string[], asked: readonly string[]): void {
  const record = value as Record<string, unknown> | null;
  if (record === null || Object.keys(record).some((name) => !asked.includes(name))) return;
  for (const name of names) delete record[name];
}
