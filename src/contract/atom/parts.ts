import type { Namespace } from './xml.ts';

/** The elements that are read for their text, and the namespace of each. */
export const textElements = {
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
export type TextElement = keyof typeof textElements;
export const textNames = Object.keys(textElements) as TextElement[];

/** The links that are read, by their `rel`. */
export const rels = ['self', 'alternate', 'icon', 'image', 'homepage'] as const;

/** The names of `db:attribute` that are read. */
export const attributeNames = ['invite_only', 'can_invite', 'participants', 'wishers', 'status', 'album'] as const;

const valueNames = ['startTime', 'endTime', 'where'] as const;
/** What is absent where it is empty. */
const fullNames = [...rels, 'term', 'locationId', 'location'] as const;

const partNames = [...textNames, ...attributeNames, ...valueNames, ...fullNames];
export type PartName = (typeof partNames)[number];

/** Where the text of each part stands in {@link Parts}. */
export const place = Object.fromEntries(partNames.map((name, at) => [name, at])) as Record<PartName, number>;
const fullFrom = place[fullNames[0]];

/**
 * What was found in a feed, an entry or an author: the same whether a text was scanned or parsed, and all that records are made of.
 * Texts are without white space at their ends; undefined where the element is absent, `''` where it is empty.
 */
export interface Parts {
  /** By {@link place}: an array, since to store under a name that varies costs several times as much. */
  texts: (string | undefined)[];
  author: Parts | undefined;
  entries: Parts[];
}

const noTexts: Parts['texts'] = partNames.map(() => undefined);
export const createParts = (): Parts => ({ texts: noTexts.slice(), author: undefined, entries: [] });

/** The first of each counts; of categories the first that names a type of event, else the first. */
export function put({ texts }: Parts, at: number, text: string): void {
  if (text === '' && at >= fullFrom) return;
  const known = texts[at];
  if (known === undefined || (at === place.term && !isOfEvent(known) && isOfEvent(text))) texts[at] = text;
}

const isOfEvent = (term: string) => term.includes('#event.');

/** Where the target of a link stands; undefined for one that is not read. */
export const placeOfLink = (rel = 'alternate'): number | undefined => placeAmong(rels, rel); // Atom's default

export const placeOfAttribute = (name: string | undefined): number | undefined => placeAmong(attributeNames, name);

const placeAmong = (names: readonly PartName[], name: string | undefined): number | undefined => {
  const known = names.find((each) => each === name);
  return known && place[known];
};
