/** Maximal nesting of arrays and objects in a response; known responses nest 6 deep. */
export const NESTING_MAX = 64;

/** JSON.parse that also rejects deeper nesting with a SyntaxError: code that walks the value would overflow the stack. */
export function parseJson(text: string, maxDepth: number): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && isDeeper(value, maxDepth))
    throw new SyntaxError('nested too deeply');
  return value;
}

function isDeeper(value: object, maxDepth: number): boolean {
  if (maxDepth === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[])
      if (typeof item === 'object' && item !== null && isDeeper(item, maxDepth - 1)) return true;
    return false;
  }
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (typeof member === 'object' && member !== null && isDeeper(member, maxDepth - 1)) return true;
  }
  return false;
}
