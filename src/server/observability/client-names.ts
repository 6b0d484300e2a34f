/** Which client sent a request, by the name and version that Apollo's tools and others send. */

export interface ClientName {
  name: string;
  version: string;
}

/** Clients that are not counted by name: not allowed, or with a name that cannot be shown. */
export const OTHER = 'other';
/** Those that send no name. */
export const UNNAMED = 'unnamed';
const others: ClientName = { name: OTHER, version: '' };

const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/;
const VERSION = /^[\w.+-]{1,32}$/;

/** `allowed`: the names to count; any if there are none. */
export const clientNames =
  (allowed: readonly string[]) =>
  (name: string, version: string): ClientName =>
    NAME.test(name) && (allowed.length === 0 || allowed.includes(name))
      ? { name, version: VERSION.test(version) ? version : '' }
      : others;
