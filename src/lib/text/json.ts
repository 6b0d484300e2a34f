/** Reads JSON of others: as deep as is safe, without members that would become a prototype, and with every digit of its numbers. */

/** JSON.parse that also rejects deeper nesting with a SyntaxError: code that walks the value would overflow the stack. */
export function parseJson(text: string, maxDepth: number): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !tidy(value, maxDepth)) return value;
  const exact: unknown = JSON.parse(withTextsForLargeIntegers(text));
  tidy(exact as object, maxDepth);
  return exact;
}

const MAX = Number.MAX_SAFE_INTEGER;

/** Removes members named `__proto__`: copying them would set a prototype. Returns whether there is a number that may have lost digits. */
function tidy(value: object, maxDepth: number): boolean {
  if (maxDepth === 0) throw new SyntaxError('nested too deeply');
  let hasLarge = false;
  if (Array.isArray(value)) {
    for (const item of value as unknown[])
      if (
        typeof item === 'object'
          ? item !== null && tidy(item, maxDepth - 1)
          : typeof item === 'number' && (item > MAX || item < -MAX)
      )
        hasLarge = true;
    return hasLarge;
  }
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (name === '__proto__') delete members[name];
    if (
      typeof member === 'object'
        ? member !== null && tidy(member, maxDepth - 1)
        : typeof member === 'number' && (member > MAX || member < -MAX)
    )
      hasLarge = true;
  }
  return hasLarge;
}

/** Ids may have more digits than a number holds: as a text they keep them. */
const withTextsForLargeIntegers = (text: string): string =>
  text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gis, (token) =>
    /^-?\d{16,}$/.test(token) && Math.abs(Number(token)) > MAX ? `"${token}"` : token,
  );
