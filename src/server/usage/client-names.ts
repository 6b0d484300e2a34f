/** Which client sent a request, by the headers that Apollo's tools and others send. */
import type { IncomingHttpHeaders } from 'node:http';

export interface ClientName {
  name: string;
  version: string;
}

/** Clients that are not counted by name: not allowed, or with a name that cannot be shown. */
export const OTHER = 'other';
const UNNAMED: ClientName = { name: 'unnamed', version: '' };
const others: ClientName = { name: OTHER, version: '' };

const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/;
const VERSION = /^[\w.+-]{1,32}$/;

/** `allowed`: the names to count; any if there are none. */
export function clientNames(allowed: readonly string[]): (headers: IncomingHttpHeaders) => ClientName {
  return (headers) => {
    const name = headers['apollographql-client-name'] ?? headers['x-client-name'];
    if (name === undefined || name === '') return UNNAMED;
    if (typeof name !== 'string' || !NAME.test(name) || (allowed.length > 0 && !allowed.includes(name))) return others;
    const version = headers['apollographql-client-version'] ?? headers['x-client-version'];
    return { name, version: typeof version === 'string' && VERSION.test(version) ? version : '' };
  };
}
