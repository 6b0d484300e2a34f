import type { DocumentNode } from 'graphql';

/** Keys that do not change what a document asks for. */
const IGNORED = new Set(['loc', 'block', 'description']);

/**
 * A short text that differs between documents that ask for different things. `__typename`, which clients add, and the order of fragments
 * make no difference.
 */
export function fingerprintOf({ definitions }: DocumentNode): string {
  let hash = 0x811c9dc5;
  for (const char of definitions.map(textOf).sort().join()) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  return (hash >>> 0).toString(36);
}

/** The values of a node and of those below it, in the order of their keys. */
function textOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(textOf).join('');
  if (typeof node === 'string' || typeof node === 'boolean') return String(node);
  if (typeof node !== 'object' || node === null) return '';
  const { kind, name, alias } = node as { kind: string; name?: { value?: string }; alias?: unknown };
  if (kind === 'Field' && name?.value === '__typename' && !alias) return '';
  const entries = Object.entries(node).filter(([key]) => !IGNORED.has(key));
  return `(${entries
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => textOf(value))
    .filter((text) => text !== '')
    .join(' ')})`;
}
