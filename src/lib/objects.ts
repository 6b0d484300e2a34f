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

/**
 * The list that a value is: PHP writes a list with gaps, such as a filtered one, as an object with whole numbers as keys. Undefined for
 * anything else, also for `{}`, which says neither.
 */
export function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as unknown[];
  if (typeof value !== 'object' || value === null) return undefined;
  const members = value as Record<string, unknown>;
  const keys = Object.keys(members);
  if (keys.length === 0 || !keys.every((key) => /^(?:0|[1-9]\d*)$/.test(key))) return undefined;
  return keys.sort((one, other) => Number(one) - Number(other)).map((key) => members[key]);
}
