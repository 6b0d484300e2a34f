/**
 * A copy that members may be added to. Not a spread: V8 gives each object that is extended after a spread a hidden class of its own, which
 * slows down all code that reads it. `__proto__` is left out.
 */
export function shallowCopy(object: object): Record<string, unknown> {
  return put({}, object);
}

/** A copy with the members of another object in addition. */
export function withMembers(object: object, more: object): Record<string, unknown> {
  return put(put({}, object), more);
}

function put(target: Record<string, unknown>, from: object): Record<string, unknown> {
  const members = from as Record<string, unknown>;
  for (const name in members) if (name !== '__proto__') target[name] = members[name];
  return target;
}

/** The object without its undefined members. */
export function present<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const found: { [Name in keyof T]?: Exclude<T[Name], undefined> } = {};
  for (const name in members) if (members[name] !== undefined) found[name] = members[name] as never;
  return found;
}

/** Neither null nor a list. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
