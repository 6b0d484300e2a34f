/** What the token of a request lacks, by the errors of its result, and the responses that tell a client where to get it. */
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { Endpoint } from '../../../api/endpoint.ts';
import type { ServiceDescriptor } from '../../../api/service-descriptor.ts';
import type { Config } from '../../../config/settings.ts';
import { notesOn } from '../../../engine/errors/codes.ts';
import type { UpstreamErrorDetails } from '../../../upstream/errors.ts';
import { HttpError } from '../../http/response/http-error.ts';

/** A login, or scopes. */
export type MissingAccess = 'login' | readonly string[];

export function missingIn(
  { endpoints, errors: rows }: ServiceDescriptor,
  errors: readonly (GraphQLError | HttpError)[],
): MissingAccess | undefined {
  const codes = errors.map(({ extensions }) => extensions.code);
  if (codes.some((code) => notesOn(String(code))?.retry === 'login')) return 'login';
  const scopes = errors.flatMap(({ extensions: { code, upstream } }) => {
    const details = upstream as UpstreamErrorDetails | undefined;
    const isOfScope = details?.code !== undefined && rows[details.code]?.means === 'scope';
    return code === 'FORBIDDEN' && isOfScope ? scopesOf(endpoints, details.request) : [];
  });
  return scopes.length > 0 ? [...new Set(scopes)] : undefined;
}

/** The scope of the endpoint that was called: `GET /v2/note/7`. */
function scopesOf(endpoints: readonly Endpoint[], call: string): string[] {
  const [method, path = ''] = call.split(/[ ?]/);
  const found = endpoints.filter((endpoint) => endpoint.method === method && hasPath(endpoint, path));
  // A path may match a literal and a variable segment: `/v2/note/people_all/7` is no note.
  const [nearest] = found.sort((a, b) => a.params.length - b.params.length);
  return nearest?.scope ? [nearest.scope] : [];
}

function hasPath(endpoint: Endpoint, path: string): boolean {
  const segments = path.split('/');
  const pattern = endpoint.path.split('/');
  return (
    segments.length === pattern.length && pattern.every((part, at) => part.startsWith(':') || part === segments[at])
  );
}

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

export type ResourceSettings = Pick<Config, 'mcpUrl'>;

export const resourceOf = ({ headers: { host } }: IncomingMessage, { mcpUrl }: ResourceSettings): string =>
  mcpUrl ?? `http://${host}/mcp`;

/** The client learns from the header where to log in, or which scopes to request there in addition. */
export function challenge(needs: MissingAccess, request: IncomingMessage, config: ResourceSettings): HttpError {
  const metadata = `resource_metadata="${new URL(`${METADATA_PATH}/mcp`, resourceOf(request, config)).href}"`;
  const hasToken = request.headers.authorization !== undefined;
  if (needs === 'login' || !hasToken) {
    const challenge = `Bearer ${metadata}${hasToken ? ', error="invalid_token"' : ''}`;
    return new HttpError('UNAUTHENTICATED', 'This needs a token that the service knows.', {
      status: 401,
      headers: {
        'www-authenticate': challenge,
      },
    });
  }
  const scope = needs.join(' ');
  return new HttpError('FORBIDDEN', `This needs a token with the scopes: ${scope}.`, {
    status: 403,
    headers: {
      'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}", ${metadata}`,
    },
  });
}
