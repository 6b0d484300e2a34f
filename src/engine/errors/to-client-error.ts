import { GraphQLError } from 'graphql';
import { UnusablePath } from '../../api/api-request.ts';
import { present } from '../../lib/objects.ts';
import {
  CodedRejection,
  NotMade,
  RateLimited,
  TierRequired,
  UpstreamFailure,
  UpstreamRejection,
  type UpstreamErrorDetails,
  isRateLimit,
} from '../../upstream/errors.ts';
import { type ClientCode, messageOf } from './codes.ts';

/** An error for wrong input, thrown before any call. */
export const badInput = (message: string, extensions: object = {}): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', ...extensions } });

/** Throws unless an argument is in its range, if it is given. */
export function requireRange(argument: string, value: number | null | undefined, least: number, most: number): void {
  if (value != null && (value < least || value > most))
    throw badInput(`\`${argument}\` must be from ${least} to ${most}.`, {
      argument,
      limit: value < least ? least : most,
    });
}

interface ClientError {
  message: string;
  extensions: Record<string, unknown> & { code: ClientCode };
}
const clientError = (code: ClientCode, message: string, more: object = {}): ClientError => ({
  message,
  extensions: { code, ...more },
});

/** The message and extensions that a client may see; undefined for unexpected errors, which are masked. */
export function toClientError(cause: unknown): ClientError | undefined {
  if (cause instanceof UpstreamRejection) return fromRejection(cause);
  if (cause instanceof UpstreamFailure) {
    const { code, details, retryAfter } = cause;
    return clientError(code, failureMessage(cause), {
      upstream: upstreamExtension(details),
      ...present({ retryAfter }),
    });
  }
  if (cause instanceof TierRequired) {
    const tiers = cause.tiers.map((tier) => tier.toUpperCase());
    return clientError('TIER_REQUIRED', `This needs a token of the film tier ${tiers.join(' or ')}.`, { tiers });
  }
  if (cause instanceof UnusablePath) {
    const { parameter, isGiven } = cause;
    return isGiven
      ? clientError('BAD_USER_INPUT', `\`${parameter}\` cannot be a part of the address that is called.`, { parameter })
      : clientError(
          'UPSTREAM_INVALID_RESPONSE',
          `The response of the service lacks \`${parameter}\` for another call.`,
        );
  }
  if (cause instanceof NotMade) return clientError(cause.code, cause.message, cause.more);
  if (cause instanceof RateLimited) {
    const { retryAfter, details, share } = cause;
    const upstream = upstreamExtension(details);
    const whose = share ? `The share that ${share} may use of the rate limit` : 'The rate limit of the service';
    return clientError('RATE_LIMITED', `${whose} is reached.`, present({ upstream, retryAfter }));
  }
  return undefined;
}

const failureMessages = {
  UPSTREAM_TIMEOUT: 'The service did not respond in time.',
  UPSTREAM_UNAVAILABLE: 'The service cannot be reached.',
  UPSTREAM_INVALID_RESPONSE: 'The response of the service cannot be read.',
  UPSTREAM_RESULT_UNKNOWN: 'The response was lost, so it is unknown whether the write was carried out.',
};

/** What happened, of all that the code may mean. */
function failureMessage({ code, details, retryAfter }: UpstreamFailure): string {
  if (code === 'UPSTREAM_INVALID_RESPONSE') return unexplained(details) ?? failureMessages[code];
  if (code === 'UPSTREAM_UNAVAILABLE' && details.status !== undefined) return 'The service reports a failure.';
  if (code === 'UPSTREAM_UNAVAILABLE' && retryAfter !== undefined) return 'The service takes no calls for now.';
  return failureMessages[code];
}

/** The message for a 4xx without an error code of the service, which may come from a gateway. */
const unexplained = ({ status = 0, code }: UpstreamErrorDetails): string | undefined =>
  code === undefined && status >= 400 && status < 500 && status !== 429
    ? `The service denied this with status ${status} and did not say why.`
    : undefined;

function fromRejection(cause: UpstreamRejection): ClientError {
  const { details, retryAfter } = cause;
  const { code, more } = cause instanceof CodedRejection ? cause : { code: clientCode(details), more: {} };
  // The text of the service stays in `upstream.message`.
  const message = unexplained(details) ?? messageOf(code) ?? 'The service rejected the request.';
  return clientError(code as ClientCode, message, {
    ...more,
    upstream: upstreamExtension(details),
    ...present({ retryAfter }),
  });
}

const asksForLogin: readonly string[] = ['UNAUTHENTICATED', 'LOGIN_REQUIRED'] satisfies ClientCode[];

function clientCode(details: UpstreamErrorDetails): string {
  if (isRateLimit(details)) return 'RATE_LIMITED';
  // The service refuses the facade then: a login of the caller would not help.
  if (details.seesNoCaller) {
    const { client = 'UPSTREAM_REFUSED' } = details.row ?? {};
    if (asksForLogin.includes(client)) return 'UPSTREAM_REFUSED';
    if (details.status === 401) return client;
  }
  if (details.status === 401) return 'UNAUTHENTICATED';
  return (
    details.row?.client ?? (details.code === undefined && details.status === 403 ? 'FORBIDDEN' : 'UPSTREAM_REFUSED')
  );
}

function upstreamExtension({ service, status, code, row, request, lookAt }: UpstreamErrorDetails): object {
  // The text in the interface, not the received one: received texts have contained addresses and tokens.
  return present({ service, status, code, message: row?.msg, request, lookAt });
}
