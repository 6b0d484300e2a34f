/** The HTTP status of every response of the graph: of results, and of requests that do not become an operation. */
import type { GraphQLErrorExtensions } from 'graphql';
import type { Config } from '../../../config/settings.ts';
import { NOT_EXECUTABLE } from '../../../engine/errors/codes.ts';

/** What a status depends on. Errors declare theirs in `extensions.http`, as the text of 2026 has it. */
interface Outcome {
  data?: unknown;
  errors?: readonly { readonly extensions: GraphQLErrorExtensions }[] | undefined;
}

/** The status of an outcome that is sent in this media type. */
export type StatusOf = (outcome: Outcome, media: string) => number;

/** The operation was executed, with errors. IANA has no such status, so it is sent in the media type of GraphQL alone. */
export const PARTIAL_SUCCESS = 294;

/** `edition`: the text of GraphQL over HTTP, which holds for its own media type; clients of others read what they always have. */
export function statusesOf(edition: Config['httpStatuses']): StatusOf {
  return ({ data, errors }, media) => {
    const isCurrent = edition === '2026' && media === 'application/graphql-response+json';
    if (data !== undefined) return errors && isCurrent ? PARTIAL_SUCCESS : 200;
    const declared = (errors ?? []).map(({ extensions: { http } }) =>
      media === 'application/json' && http?.spec ? 0 : (http?.status ?? 0),
    );
    const status = Math.max(0, ...declared) || 200;
    return status === NOT_EXECUTABLE && !isCurrent ? 400 : status;
  };
}
