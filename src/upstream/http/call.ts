/** One upstream call. `run` and `fetch` list its steps. */
import type { Span } from '@opentelemetry/api';
import type { Endpoint } from '../../api/endpoint.ts';
import type { ServiceDescriptor, TierPolicy } from '../../api/service-descriptor.ts';
import type { Config } from '../../config/settings.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import { USER_AGENT } from '../../package.ts';
import { addTraceHeaders, startCallSpan } from '../../lib/trace-context.ts';
import { type Credential, learnPerson, repeatRejection } from '../auth/credentials.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { learnFromRejection, learnFromResponse } from '../auth/tiers.ts';
import { unsure } from '../cache/caching-header.ts';
import type { CachingWatch } from '../cache/caching-watch.ts';
import { redactOwner } from '../cache/redact.ts';
import { type CallAnswer, type LoggedCall, countAttempts } from '../call-log.ts';
import {
  RateLimited,
  type UpstreamErrorDetails,
  UpstreamFailure,
  UpstreamRejection,
  detailsOf,
  isAbsent,
  isTokenRejection,
} from '../errors.ts';
import type { AddHeaders } from './request.ts';
import type { RateLimitPermit } from '../limits/rate-limiter.ts';
import type { InFlightRequests, SharedCall, SharingReader } from './in-flight.ts';
import type { Transport } from './pool.ts';
import { type RejectionServices, rejectionOf } from './rejection.ts';
import type { ApiRequest } from '../../api/api-request.ts';
import type { HttpRequest, RequestBody } from './request.ts';
import {
  type ApiResponse,
  ReportedError,
  type HttpResponse,
  type InspectedResponse,
  decodeResponse,
  errorCodeIn,
} from './response.ts';
import { operationEnded } from './transport-errors.ts';

/** A call that was made, or was answered from the cache. */
export interface ObservedCall {
  endpoint: Endpoint;
  /** A call that joined another is not observed. */
  how: CallAnswer;
  /** Its status, the code of its error, or `cached`, `stale`. */
  outcome: string;
  ms: number;
  /** What was wrong with the response, or why there is none. */
  failure?: UpstreamErrorDetails | undefined;
  /** A text of the response had a broken character, which was replaced. */
  mended?: UpstreamErrorDetails | undefined;
  /** Undefined if the operation is not traced, or if the call shares the request of another. */
  span?: Span | undefined;
}

/** What all calls share. */
export interface CallServices extends RejectionServices {
  settings: Pick<Config, 'maxJsonBytes' | 'maxAtomBytes' | 'maxUpstreamCalls' | 'eventBaseUrl'>;
  caching: CachingWatch;
  service: Pick<ServiceDescriptor, 'errors' | 'documents' | 'seesNoCaller'>;
  tiers: TierPolicy;
  transport: Transport;
  inFlight: InFlightRequests;
  /** Adds the headers of the embedding program. */
  addHeaders?: AddHeaders | undefined;
  observe: ((call: ObservedCall) => void) | undefined;
  /** Called with each decoded response. */
  inspect?: ((response: InspectedResponse) => void) | undefined;
}

export class UpstreamCall implements SharedCall {
  private readonly services: CallServices;
  private readonly context: RequestContext;
  private readonly request: ApiRequest;
  private readonly credential: Credential;
  private readonly body: RequestBody;
  private readonly logged: LoggedCall;
  private span: Span | undefined;
  private failure: UpstreamErrorDetails | undefined = undefined;
  private mended: UpstreamErrorDetails | undefined = undefined;
  /** The headers of its request that others may have otherwise; names and values alternate. */
  private sent: readonly string[] = [];
  private permits: readonly RateLimitPermit[] = noPermits;
  private isOver = false;

  constructor(
    services: CallServices,
    context: RequestContext,
    request: ApiRequest,
    credential: Credential,
    body: RequestBody,
    logged: LoggedCall,
  ) {
    this.services = services;
    this.context = context;
    this.request = request;
    this.credential = credential;
    this.body = body;
    this.logged = logged;
  }

  /** `shareKey`: equal for reads that may share one request; undefined for a write. */
  async run(shareKey: string | undefined, reader: SharingReader | undefined): Promise<ApiResponse> {
    const { credential, services } = this;
    const { cancellation } = this.context;
    try {
      const pending =
        shareKey === undefined
          ? this.fetch(cancellation)
          : services.inFlight.share(credential, shareKey, cancellation, this, reader);
      const response = await pending;
      this.logged.status ??= response.status;
      return response;
    } catch (error) {
      throw this.errorOf(error);
    } finally {
      this.finish();
    }
  }

  /** Sends the request. Called by `run`, or for all calls that share its response. */
  async fetch(cancellation: CancellationToken): Promise<ApiResponse> {
    this.logged.how = 'refused'; // until it is sent; it joined another call if the permit was refused to that one
    const { transport } = this.services;
    const request = this.httpRequest(cancellation);
    let isCounted = true;
    try {
      const permit = this.acquire(cancellation);
      if (permit instanceof Promise) await this.waitFor(permit, cancellation);
      else this.permits = [permit];
      this.logged.how = 'sent';
      const response = await transport.send(request, cancellation);
      return this.read(response);
    } catch (error) {
      isCounted = isCountedByService(error);
      if (error instanceof RateLimited) this.logged.how = 'refused'; // it was to be sent, and waited for a connection
      if (error instanceof UpstreamFailure) countAttempts(this.logged, error.attempts);
      throw error;
    } finally {
      this.isOver = true;
      for (const permit of this.permits) permit.settle(isCounted);
    }
  }

  private acquire(cancellation: CancellationToken, isRetry = false): RateLimitPermit | Promise<RateLimitPermit> {
    const { request, credential, services, context } = this;
    const { address, rateShare } = context;
    return services.rateLimiter.acquire({ request, credential, address, cancellation, rateShare, isRetry });
  }

  /** The operation may end, or the token may be rejected, while the call waits. */
  private async waitFor(permit: Promise<RateLimitPermit>, cancellation: CancellationToken): Promise<void> {
    this.permits = [await permit];
    if (cancellation.reason) throw operationEnded(detailsOf(this.request), cancellation.reason);
    repeatRejection(this.credential, this.request);
  }

  private httpRequest(cancellation: CancellationToken): HttpRequest {
    const { context } = this;
    const { settings, service } = this.services;
    const { endpoint, wirePath: path } = this.request;
    const isJson = endpoint.media === 'json';
    const accept = isJson || endpoint.media === 'empty' ? 'application/json' : service.documents!.contentType;
    const headers = ['x-request-id', context.requestId];
    if (context.span) {
      this.span = startCallSpan(context.span, endpoint.method);
      addTraceHeaders(this.span.spanContext(), headers);
    }
    const { authorization } = this.credential;
    if (authorization !== undefined) headers.push('authorization', authorization);
    const { body, contentType } = this.body;
    if (contentType !== undefined) headers.push('content-type', contentType);
    this.services.addHeaders?.(endpoint.service, headers);
    this.sent = headers;
    return {
      service: endpoint.service,
      method: endpoint.method,
      path,
      headers: ['accept', accept, 'accept-encoding', 'gzip', 'user-agent', USER_AGENT, ...headers],
      body,
      maxBytes: isJson ? settings.maxJsonBytes : settings.maxAtomBytes,
      owner: context.cancellation,
      mayBegin: context.mayBegin,
      chargeRetry: () => this.chargeRetry(cancellation),
      refusal: () => this.services.rateLimiter.pauses.refusal(this.request, this.credential),
    };
  }

  /** False if the rate limiter gives no permit, or the call has ended. */
  private async chargeRetry(cancellation: CancellationToken): Promise<boolean> {
    try {
      const permit = await this.acquire(cancellation, true);
      if (this.isOver) permit.settle(false);
      else this.permits = [...this.permits, permit];
      return !this.isOver;
    } catch {
      return false;
    }
  }

  /** Decodes a response and learns from it; throws for any but a success or an absence. */
  private read(response: HttpResponse): ApiResponse {
    const { credential, request, logged } = this;
    const { endpoint } = request;
    const { status, headers, text, bytes, attempts } = response;
    logged.status = status;
    logged.bytes = bytes;
    countAttempts(logged, attempts);
    if (response.isMended) this.mended = detailsOf(request);
    const isSuccess = status >= 200 && status < 300;
    const { service, settings, caching } = this.services;
    const reuseOf = () => caching.reuseOf(endpoint, credential, headers, this.sent);
    const value = isSuccess
      ? decodeResponse(service.documents, request, text, status, settings.eventBaseUrl)
      : undefined;
    if (isSuccess && !(value instanceof ReportedError)) {
      this.services.inspect?.({ request, value });
      this.onAccepted();
      const shown = credential.isOwn ? redactOwner(endpoint, credential, value) : value;
      if (endpoint.isTiered && shown !== null)
        learnFromResponse(this.services.tiers, credential, endpoint, shown as object);
      if (endpoint.caller && !credential.isOwn) learnPerson(credential, request, shown);
      return { value: shown, bytes, status, reuse: reuseOf() };
    }
    const { errors, seesNoCaller } = service;
    const code = value instanceof ReportedError ? value.code : status < 400 ? undefined : errorCodeIn(text, errors);
    const row = code === undefined ? undefined : errors[code];
    if (endpoint.method === 'GET' && isAbsent(endpoint, status, code, row)) {
      if (code !== undefined) this.onAccepted();
      const reuse = code === undefined ? unsure : reuseOf();
      return { value: null, bytes, status, reuse };
    }
    const known = { ...(code !== undefined && { code }), ...(row && { row }), ...(seesNoCaller && { seesNoCaller }) };
    const details = { ...detailsOf(request), status, ...known };
    throw rejectionOf(this.services, endpoint, credential, details, response.retryAfter);
  }

  /** The service took the call, and so it takes others of the credential. */
  private onAccepted(): void {
    const { credential, services } = this;
    const { endpoint } = this.request;
    services.credentials.accept(credential, endpoint.service);
    if (credential.isOwn) services.ownRefusals.end(endpoint);
    services.rateLimiter.pauses.end(endpoint, credential);
  }

  /** Logs the error, learns from it, and returns the error to report. */
  private errorOf(error: unknown): unknown {
    const { logged, request, credential } = this;
    const { endpoint } = request;
    const { reason } = this.context.cancellation;
    const cause = reason && error === reason ? operationEnded(detailsOf(request), error) : error;
    if (cause instanceof UpstreamFailure || cause instanceof UpstreamRejection) this.failure = cause.details;
    logged.error = cause instanceof UpstreamFailure ? cause.code : (cause as Error).name;
    if (!(cause instanceof UpstreamRejection)) return cause;
    if (cause.details.status !== undefined) logged.status ??= cause.details.status;
    return endpoint.isTiered ? learnFromRejection(this.services.tiers, credential, endpoint, cause) : cause;
  }

  private finish(): void {
    const { logged, span, services, request, failure, mended } = this;
    const { endpoint } = request;
    // A read that began before a write does not share its response with a read after it.
    if (endpoint.method !== 'GET') services.inFlight.forget(this.credential);
    logged.ms = performance.now() - this.context.callLog.started - logged.startMs;
    const { how, ms, error, status } = logged;
    // The status of a rejection, the name of any other error.
    const hasStatus = error === undefined || /^(Upstream|Coded)Rejection$/.test(error);
    const outcome = hasStatus ? String(status ?? 'none') : error;
    if (how !== 'joined') services.observe?.({ endpoint, how, outcome, ms, failure, mended, span });
  }
}

const noPermits: readonly RateLimitPermit[] = [];

/** False if the call was not sent, or its token was rejected. */
function isCountedByService(error: unknown): boolean {
  if (error instanceof UpstreamRejection) return !isTokenRejection(error.details);
  if (error instanceof RateLimited) return false;
  return !(error instanceof UpstreamFailure) || error.wasSent;
}
