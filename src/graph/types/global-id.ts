import { badInput } from '../errors/to-client-error.ts';

/** A path segment that the service takes as an id. */
const plainId = /^[A-Za-z0-9_.~-]{1,128}$/;

/** `<Type>:<upstream id>`, readable on purpose. */
export const globalId = (type: string, key: string | number): string => `${type}:${key}`;

/** The upstream id of a `<type>` that a caller named by its global or its bare id; refuses everything else before any call. */
export function sourceIdOf(type: string, id: string): string {
  const key = keyInGlobalId(type, id);
  if (!isSourceId(key)) throw badInput(`That is not the id of a ${type}.`, { argument: 'id' });
  return key;
}

/** What follows the type in a global id, or the bare text. */
export function keyInGlobalId(type: string, id: string): string {
  const colon = id.indexOf(':');
  if (colon < 0) return id;
  if (id.slice(0, colon) !== type) throw badInput(`That is the id of another type than ${type}.`, { argument: 'id' });
  return id.slice(colon + 1);
}

export const isSourceId = (key: string): boolean => plainId.test(key) && key !== '.' && key !== '..';

/** The key of an object that the service returns without an id. It cannot be looked up again. */
export const keyByName = (name: string): string => `~${encodeURIComponent(wellFormed(name))}`;
export const isKeyByName = (key: string): boolean => key.startsWith('~');

/** A lone surrogate cannot be percent-encoded. */
const wellFormed = (name: string) => name.replace(/\p{Surrogate}/gu, '\ufffd');
