/** Turns errors of connections into the errors that clients see, and decides whether to retry. */
import { Readable } from 'node:stream';
import { errors } from 'undici/index.js';
import type { CancellationToken } from '../../lib/cancellation.ts';
import { errorCodeOf } from '../availability.ts';
import { requestLine } from '../../api/api-request.ts';
import { type UpstreamErrorDetails, UpstreamFailure } from '../errors.ts';
import type { HttpRequest } from './request.ts';
import { InvalidResponse } from './response.ts';

const lossCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNABORTED',
];
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** This machine or process has no file descriptors, ports or memory left: that says nothing about the service. */
const ownCodes = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'];

/** The code of an error that is the facade's own trouble; undefined for others. */
export function ownTrouble(error: unknown): string | undefined {
  const code = codeOf(error);
  return ownCodes.includes(code) ? code : undefined;
}

/** undici reports the truncated last response of a connection as other errors than earlier ones. */
const endsTooEarly = (error: unknown): boolean =>
  error instanceof errors.ResponseContentLengthMismatchError ||
  (error instanceof errors.HTTPParserError && error.message.includes('Invalid EOF state'));

/** Another attempt may find a connection that holds. */
export const isConnectionLoss = (error: unknown): boolean =>
  error instanceof errors.SocketError ||
  error instanceof errors.ConnectTimeoutError ||
  lossCodes.includes(codeOf(error)) ||
  endsTooEarly(error);

/** A connection that was made, and lost: what was sent may have arrived. */
export const isReset = (error: unknown): boolean => ['ECONNRESET', 'EPIPE'].includes(codeOf(error));

/** The proxy does not let the call through. */
const isProxyRefusal = (error: unknown): boolean =>
  (error instanceof errors.RequestAbortedError && error.message.startsWith('Proxy response')) ||
  codeOf(error) === 'UND_ERR_PRX_TLS';

/** Lost connections, and those that cannot be made: no route, an invalid certificate. */
export const isUnreachable = (error: unknown): boolean =>
  isConnectionLoss(error) ||
  isProxyRefusal(error) ||
  /^E(?!RR_)[A-Z]+$|^ERR_(TLS|SSL)|CERT|SIGNATURE/.test(codeOf(error));

/** Why an upstream is unreachable, for the log; never a message, which may have an address with a password. */
export function outageReason(error: unknown): string {
  if (!isProxyRefusal(error)) return errorCodeOf(error);
  const status = /\((\d{3})\)/.exec((error as Error).message)?.[1];
  return status === undefined ? 'the certificate of the proxy' : `the proxy answers ${status}`;
}

export const isTimeout = (error: unknown): boolean =>
  error instanceof errors.HeadersTimeoutError ||
  error instanceof errors.BodyTimeoutError ||
  error instanceof errors.ConnectTimeoutError;

/** The operation ended before the response: of a read, or of a write that was never sent. */
export const operationEnded = (details: UpstreamErrorDetails, cause: unknown, wasSent = false): UpstreamFailure =>
  new UpstreamFailure('UPSTREAM_TIMEOUT', details, 'the operation has ended', { cause, wasSent });

/** `wasSent`: an attempt may have reached the service. */
export function transportFailure(
  request: HttpRequest,
  error: unknown,
  wasSent: boolean,
  cancellation: CancellationToken,
): UpstreamFailure {
  const own = ownTrouble(error);
  const { service, method, path } = request;
  const details = { service, request: requestLine(method, path), ...(own && { ownTrouble: own }) };
  const options = { cause: error, wasSent };
  // Whether a write was carried out is unknown if it was sent and the response was lost.
  const isKnown =
    !wasSent ||
    codeOf(error) === 'ECONNREFUSED' ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof InvalidResponse ||
    (request.body instanceof Readable && !request.body.readableEnded); // half a form is no request
  if (method !== 'GET' && !isKnown)
    return new UpstreamFailure('UPSTREAM_RESULT_UNKNOWN', details, 'the response was lost', options);
  if (cancellation.reason) return operationEnded(details, error, wasSent);
  if (isTimeout(error)) return new UpstreamFailure('UPSTREAM_TIMEOUT', details, 'no response in time', options);
  if (own)
    return new UpstreamFailure('UPSTREAM_UNAVAILABLE', details, `no connection can be made here: ${own}`, options);
  if (isUnreachable(error)) return new UpstreamFailure('UPSTREAM_UNAVAILABLE', details, 'no connection', options);
  const reason = error instanceof Error ? error.message : 'invalid response';
  return new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', { ...details, reason }, reason, options);
}
