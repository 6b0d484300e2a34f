/** Finds what a name in a document means, without creating a string of it. */
import { type ElementRule, elementRules } from './fields.ts';
import { type Namespace, namespaces } from './xml.ts';

/** The namespaces in scope by prefix and colon, '' for the default; undefined if the interface does not use it. The innermost is first. */
export type NamespaceScope = readonly { readonly prefix: string; readonly namespace: Namespace | undefined }[];

export const namespaceNames: ReadonlyMap<string, Namespace> = new Map(
  (Object.keys(namespaces) as Namespace[]).map((name) => [namespaces[name], name]),
);

/** Rules by the last five bits of the first letter: at most a few names to compare. */
const rulesByInitial: readonly (readonly ElementRule[])[] = Array.from({ length: 32 }, (_, bits) =>
  elementRules.filter(({ name }) => (name.charCodeAt(0) & 31) === bits),
);

export function ruleOf(units: Uint16Array, start: number, end: number): ElementRule | undefined {
  for (const rule of rulesByInitial[units[start]! & 31]!) if (isAt(rule.name, units, start, end)) return rule;
  return undefined;
}

export function positionOf(names: readonly string[], units: Uint16Array, start: number, end: number): number {
  for (let at = 0; at < names.length; at++) if (isAt(names[at]!, units, start, end)) return at;
  return -1;
}

export function namespaceOf(
  scope: NamespaceScope,
  units: Uint16Array,
  from: number,
  end: number,
): Namespace | undefined {
  const start = end === from + 1 ? end : from; // nothing but a colon
  for (const { prefix, namespace } of scope) if (isAt(prefix, units, start, end)) return namespace;
  return undefined;
}

/** Whether the range of the text is this name. */
function isAt(name: string, units: Uint16Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let at = 0; at < name.length; at++) if (name.charCodeAt(at) !== units[start + at]) return false;
  return true;
}
