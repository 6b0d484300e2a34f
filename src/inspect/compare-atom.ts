/** Holds an Atom document against what is read of one. */
import type { Endpoint, Media } from '../api/endpoint.ts';
import { attributeNames, elementPaths, elementRules, rels } from '../atom/media.ts';
import { type Deviation, compare } from './compare.ts';

/** `value`: the decoded document. */
export function compareAtom(endpoint: Endpoint, value: unknown, document: string): Deviation[] {
  const unknown = [...elementPaths(document)]
    .filter((path) => !isKnown(path))
    .map((path): Deviation => ({ what: 'unknown', coordinate: path.slice(0, PATH_MAX) }));
  const missing = hasLostEntry(value) ? [{ what: 'missing', coordinate: 'entries[].id' } as const] : [];
  return [...compare(endpoint, value), ...missing, ...unknown];
}

export const isAtom = (media: Media): boolean => media !== 'json' && media !== 'empty';

const PATH_MAX = 100;

/** Elements and attributes of RFC 4287 that nothing here reads. */
const UNREAD = new Set(
  `updated published subtitle generator rights logo icon contributor email source @type @hreflang @title @length @lang
  @label @version @uri @src @xml:lang @xml:base @xml:space @rel`.split(/\s+/),
);
const KNOWN = new Set<string>([
  ...elementRules.flatMap(({ name, attributes }) => [name, ...attributes.map((each) => `${name}@${each}`)]),
  ...attributeNames.map((name) => `attribute[${name}]`),
  ...rels.map((rel) => `link[${rel}]`),
]);

function isKnown(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!path.includes('/')) return true; // attributes of the root
  const attribute = name.indexOf('@');
  return KNOWN.has(name) || UNREAD.has(attribute === -1 ? name : name.slice(attribute));
}

/** An entry without an id is null. */
function hasLostEntry(value: unknown): boolean {
  const { entries } = value as { entries?: unknown };
  return Array.isArray(entries) && entries.includes(null);
}
