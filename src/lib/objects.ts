/**
 * A copy that members may be added to, or others put in their place.
 *
 * Not a spread: what is added to one of those gives it a hidden class of its own, each time anew, and all code that meets it starts from
 * nothing. A member `__proto__` is none of ours, and left behind.
 */
export function shallowCopy(object: object): Record<string, unknown> {
  return put({}, object);
}

/** The same with the members of another put in. */
export function withMembers(object: object, more: object): Record<string, unknown> {
  return put(shallowCopy(object), more);
}

function put(target: Record<string, unknown>, from: object): Record<string, unknown> {
  const members = from as Record<string, unknown>;
  for (const name in members) if (name !== '__proto__') target[name] = members[name];
  return target;
}
