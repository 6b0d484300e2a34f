/** The errors of requests with a key that are not run, and of writes that may have been carried out. */
import type { ClientCode } from '../../../engine/errors/codes.ts';
import { type UpstreamErrorDetails, UpstreamFailure } from '../../../upstream/errors.ts';
import { HttpError } from '../../http/response/http-error.ts';

const refused = (code: ClientCode, message: string, seconds?: string): HttpError =>
  new HttpError(code, message, {
    isExact: true,
    ...(seconds !== undefined && { headers: { 'retry-after': seconds } }),
  });

export const reused = (): HttpError =>
  refused(
    'IDEMPOTENCY_KEY_REUSED',
    'The idempotency key was used for something else, or by somebody else: make a new one.',
  );

export const forgotten = (): HttpError =>
  refused('IDEMPOTENCY_KEY_UNKNOWN', 'The key was used, and what came of it is no longer kept.');

/** Another token of an unknown person has used the key with the same request. */
export const whose = (): HttpError =>
  refused('IDEMPOTENCY_KEY_UNKNOWN', 'It cannot be said whether this key was used by you: load the record.');

export const inProgress = (): HttpError =>
  refused('IDEMPOTENCY_IN_PROGRESS', 'A write with this idempotency key still runs.', '1');

export const unavailable = (): HttpError =>
  refused('IDEMPOTENCY_UNAVAILABLE', 'The store of idempotency keys cannot be reached, so nothing was sent.', '1');

export const tooManyKeys = (): HttpError =>
  refused('TOO_MANY_IDEMPOTENCY_KEYS', 'Too many idempotency keys are in use.', '60');

export const tooManyWrites = (): HttpError =>
  refused('TOO_MANY_KEYED_WRITES', 'Too many writes with idempotency keys of this caller run.', '1');

/** `retryAfter`: seconds until it can be settled, if time helps. */
export const outcomeUnknown = (
  details: UpstreamErrorDetails,
  lookAt: string,
  retryAfter: number | undefined,
  cause: unknown,
): UpstreamFailure =>
  new UpstreamFailure('UPSTREAM_RESULT_UNKNOWN', { ...details, lookAt }, 'the outcome is unknown', {
    cause,
    retryAfter,
  });
