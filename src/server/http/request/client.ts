import type { IncomingHttpHeaders } from 'node:http';

/** The headers with which client libraries name their program: of Apollo, of the GraphQL community, of Hive, and of others. */
const PREFIXES = ['apollographql-client', 'graphql-client', 'x-graphql-client', 'x-client'] as const;
const NAMES = PREFIXES.map((prefix) => ({ name: `${prefix}-name`, version: `${prefix}-version` }));

/** All names of these headers. */
export const CLIENT_HEADERS: readonly string[] = NAMES.flatMap(({ name, version }) => [name, version]);

/** The program that a client library names, and its version; both are texts of the client. Undefined without a name. */
export function clientOf(headers: IncomingHttpHeaders): { name: string; version: string } | undefined {
  for (const header of NAMES) {
    const name = headers[header.name];
    if (typeof name !== 'string' || name === '') continue;
    const version = headers[header.version];
    return { name, version: typeof version === 'string' ? version : '' };
  }
  return undefined;
}
