import type { AtomLocation, Links } from '../event.ts';
import type { Namespace } from './xml.ts';

/** The elements that are read for their text, and the namespace of each. */
export const texts = {
  id: 'atom',
  title: 'atom',
  name: 'atom',
  uri: 'atom',
  summary: 'atom',
  content: 'atom',
  result: 'atom',
  uid: 'db',
  point: 'georss',
  startIndex: 'opensearch',
  itemPerPage: 'opensearch',
  itemsPerPage: 'opensearch',
  totalResults: 'opensearch',
} as const satisfies Record<string, Namespace>;
export type TextName = keyof typeof texts;

export const rels = ['self', 'alternate', 'icon', 'image', 'homepage'] as const satisfies (keyof Links)[];

/** The names of `db:attribute` that are read. */
export const attributeNames = ['invite_only', 'can_invite', 'participants', 'wishers', 'status', 'album'] as const;
export type AttributeName = (typeof attributeNames)[number];

/**
 * What was found in a feed, an entry or an author: the same whether a text was scanned or parsed, and all that records are made of.
 * Texts and values are without white space at their ends; undefined where the element is absent, `''` where it is empty.
 */
export interface Parts extends Record<TextName, string | undefined> {
  links: Links;
  /** The term of the category that names a type of event, else of the first one. */
  term: string | undefined;
  attributes: Partial<Record<AttributeName, string>>;
  location: AtomLocation | undefined;
  startTime: string | undefined;
  endTime: string | undefined;
  where: string | undefined;
  author: Parts | undefined;
  entries: Parts[];
}

export const createParts = (): Parts => ({
  id: undefined,
  title: undefined,
  name: undefined,
  uri: undefined,
  summary: undefined,
  content: undefined,
  result: undefined,
  uid: undefined,
  point: undefined,
  startIndex: undefined,
  itemPerPage: undefined,
  itemsPerPage: undefined,
  totalResults: undefined,
  links: {},
  term: undefined,
  attributes: {},
  location: undefined,
  startTime: undefined,
  endTime: undefined,
  where: undefined,
  author: undefined,
  entries: [],
});

/** The first link of each rel counts. */
export function addLink({ links }: Parts, rel: string | undefined, href: string | undefined): void {
  if (!href) return;
  const named = rel ?? 'alternate'; // Atom's default
  for (const known of rels) if (known === named) links[known] ??= href;
}

export function addTerm(parts: Parts, term: string | undefined): void {
  if (!term) return;
  if (parts.term === undefined || (!isOfEvent(parts.term) && isOfEvent(term))) parts.term = term;
}

const isOfEvent = (term: string) => term.includes('#event.');

/** The first attribute of each name counts. */
export function addAttribute({ attributes }: Parts, name: string | undefined, text: string): void {
  for (const known of attributeNames) if (known === name) attributes[known] ??= text;
}

export function locationOf(id: string | undefined, name: string): AtomLocation | undefined {
  if (!id) return name ? { name } : undefined;
  return name ? { id, name } : { id };
}
