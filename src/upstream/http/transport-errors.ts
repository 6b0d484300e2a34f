/** What went wrong on the way to the service, in the words of a client: which of the faults it is, and whether to try again. */
import { Readable } from 'node:stream';
import { errors } from 'undici';
import type { CancellationToken } from '../../lib/cancellation.ts';
import { InvalidResponse } from './response-body.ts';
import { UpstreamFailure, type UpstreamErrorDetails } from '../errors.ts';
import type { HttpRequest } from './request.ts';

export const errorDetails = ({
  service,
  requestLine,
}: Pick<HttpRequest, 'service' | 'requestLine'>): UpstreamErrorDetails => ({
  service,
  request: requestLine,
});

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

/** The last answer of a connection: that it was cut, undici tells otherwise than of any before. */
const endsTooEarly = (error: unknown): boolean =>
  error instanceof errors.ResponseContentLengthMismatchError ||
  (error instanceof errors.HTTPParserError && error.message.includes('Invalid EOF state'));

/** Another attempt may find a connection that holds. */
export const isConnectionLoss = (error: unknown): boolean =>
  error instanceof errors.SocketError ||
  error instanceof errors.ConnectTimeoutError ||
  lossCodes.includes(codeOf(error)) ||
  endsTooEarly(error);

/** Beside lost connections, those that cannot be made: no route, a certificate that does not hold. */
export const isUnreachable = (error: unknown): boolean =>
  isConnectionLoss(error) || /^E(?!RR_)[A-Z]+$|^ERR_(TLS|SSL)|CERT|SIGNATURE/.test(codeOf(error));

export const isTimeout = (error: unknown): boolean =>
  error instanceof errors.HeadersTimeoutError ||
  error instanceof errors.BodyTimeoutError ||
  error instanceof errors.ConnectTimeoutError;

export function transportFailure(
  request: HttpRequest,
  error: unknown,
  isSent: boolean,
  asker: CancellationToken,
): UpstreamFailure {
  const word = errorDetails(request);
  const cause = { cause: error };
  // Of a write that was sent and not answered nobody knows whether it was carried out.
  const isKnown =
    !isSent ||
    codeOf(error) === 'ECONNREFUSED' ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof InvalidResponse ||
    (request.body instanceof Readable && !request.body.readableEnded); // half a form is no request
  if (request.method !== 'GET' && !isKnown)
    return new UpstreamFailure('UPSTREAM_RESULT_UNKNOWN', word, 'the answer was lost', cause);
  if (asker.reason) return new UpstreamFailure('UPSTREAM_TIMEOUT', word, 'the operation has ended', cause);
  if (isTimeout(error)) return new UpstreamFailure('UPSTREAM_TIMEOUT', word, 'no answer in time', cause);
  if (isUnreachable(error)) return new UpstreamFailure('UPSTREAM_UNAVAILABLE', word, 'no connection', cause);
  const reason = error instanceof Error ? error.message : 'nonsense';
  return new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', word, reason, cause);
}
