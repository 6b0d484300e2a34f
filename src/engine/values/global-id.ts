import { badInput } from '../errors/to-client-error.ts';

/** A path segment that the service accepts as an id. */
const plainId = /^[A-Za-z0-9_.~-]{1,128}$/;

/** `<Type>:<upstream id>`, readable on purpose. */
export const globalId = (type: string, key: string | number): string => `${type}:${key}`;

/** The upstream id from a global or a bare id in this argument. Throws for everything else, before any call. */
export function sourceIdOf(type: string, id: string, argument = 'id'): string {
  const key = keyInGlobalId(type, id, argument);
  const name = key === id ? undefined : nameInKey(key);
  if (name !== undefined)
    throw badInput(`The service names this ${type} ("${name}") without an id, so nothing can be looked up by it.`, {
      argument,
    });
  if (!isSourceId(key))
    throw badInput(`This is no id of the type ${type}: one has Latin letters, digits and \`_.~-\` only.`, { argument });
  return key;
}

/** The part of a global id after the type, or the whole text if it has no type. */
export function keyInGlobalId(type: string, id: string, argument = 'id'): string {
  const colon = id.indexOf(':');
  if (colon < 0) return id;
  if (id.slice(0, colon) !== type) throw badInput(`This is a global id of another type, not of ${type}.`, { argument });
  return id.slice(colon + 1);
}

export const isSourceId = (key: string): boolean => plainId.test(key) && key !== '.' && key !== '..';

/** The key of an object that the service returns without an id. It cannot be looked up. */
export const keyByName = (name: string): string => `~${encodeURIComponent(wellFormed(name))}`;
export const isKeyByName = (key: string): boolean => key.startsWith('~');
/** The name in such a key; undefined if it is none. */
export function nameInKey(key: string): string | undefined {
  try {
    return isKeyByName(key) ? decodeURIComponent(key.slice(1)) : undefined;
  } catch {
    return undefined;
  }
}

/** A lone surrogate cannot be percent-encoded. */
const wellFormed = (name: string) => name.replace(/\p{Surrogate}/gu, '\ufffd');
