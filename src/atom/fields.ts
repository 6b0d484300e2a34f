/** Which texts and attributes of a feed, an entry or an author are read, and the field that each one fills. */
import type { Namespace } from './xml.ts';

/** Elements whose text is read, with their namespaces. */
const textElements = {
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

/** Values of `rel` of the links that are read. */
export const rels = ['self', 'alternate', 'icon', 'image', 'homepage'] as const;

/** Values of `name` of the `db:attribute` elements that are read. */
export const attributeNames = ['invite_only', 'can_invite', 'participants', 'wishers', 'status', 'album'] as const;

export type FieldName =
  | keyof typeof textElements
  | (typeof rels)[number]
  | (typeof attributeNames)[number]
  | 'startTime'
  | 'endTime'
  | 'where'
  | 'term'
  | 'scheme'
  /** Of a category that names no event type. */
  | 'otherScheme'
  | 'locationId'
  | 'location';

/**
 * The texts of one feed, entry or author, trimmed.
 * A text is undefined if its element or attribute is absent, and '' if that is empty.
 */
export type AtomFields = Partial<Record<FieldName, string>> & { author?: AtomFields; entries: AtomFields[] };

const textNames = Object.keys(textElements) as (keyof typeof textElements)[];

/** How one element is read. */
export interface ElementRule {
  readonly namespace: Namespace;
  /** Position of the element in a bit set. */
  readonly bit: number;
  /** The field of the element's text; `decided` is the value of `decidedBy`. */
  readonly text?: (decided: string | undefined) => FieldName | undefined;
  /** The field of an attribute; `decided` is the value of `decidedBy`. */
  readonly attribute?: (name: string, decided: string | undefined) => FieldName | undefined;
  /** The attribute that decides which field a value belongs to. */
  readonly decidedBy?: string;
  /** Every field that the element may fill. */
  readonly fields: readonly FieldName[];
  /** The element holds fields of its own. */
  readonly holds?: 'author' | 'entries';
  /** All elements of that name count; otherwise only the first. */
  readonly repeats?: boolean;
}

const always =
  <T>(value: T) =>
  () =>
    value;
/** The field of the attribute of that name. */
const only = (attribute: string, field: FieldName) => (name: string) => (name === attribute ? field : undefined);
const among = <Name extends FieldName>(names: readonly Name[], name: string | undefined) =>
  names.find((each) => each === name);

const rules: [string, Omit<ElementRule, 'bit'>][] = [
  ...textNames.map((name): [string, Omit<ElementRule, 'bit'>] => [
    name,
    { namespace: textElements[name], text: always(name), fields: [name] },
  ]),
  // RFC 4287: `rel` defaults to `alternate`.
  [
    'link',
    {
      namespace: 'atom',
      decidedBy: 'rel',
      attribute: (name, rel = 'alternate') => (name === 'href' ? among(rels, rel) : undefined),
      fields: rels,
      repeats: true,
    },
  ],
  [
    'category',
    {
      namespace: 'atom',
      decidedBy: 'term',
      attribute: (name, term) =>
        name === 'scheme' ? (isOfEvent(term ?? '') ? 'scheme' : 'otherScheme') : among(['term'], name),
      fields: ['term', 'scheme', 'otherScheme'],
      repeats: true,
    },
  ],
  [
    'attribute',
    {
      namespace: 'db',
      decidedBy: 'name',
      text: (name) => among(attributeNames, name),
      fields: attributeNames,
      repeats: true,
    },
  ],
  [
    'location',
    {
      namespace: 'db',
      text: always('location'),
      attribute: only('id', 'locationId'),
      fields: ['location', 'locationId'],
    },
  ],
  [
    'when',
    {
      namespace: 'gd',
      attribute: (name) => among(['startTime', 'endTime'], name),
      fields: ['startTime', 'endTime'],
    },
  ],
  ['where', { namespace: 'gd', attribute: only('valueString', 'where'), fields: ['where'] }],
  ['author', { namespace: 'atom', fields: [], holds: 'author' }],
  ['entry', { namespace: 'atom', fields: [], holds: 'entries', repeats: true }],
];

/** The elements that are read, by their local name. */
export const elementRules: ReadonlyMap<string, ElementRule> = new Map(
  rules.map(([name, rule], at) => [name, { ...rule, bit: 1 << at }]),
);

/** Fields that are undefined if their text is empty. */
const absentWhenEmpty: ReadonlySet<FieldName> = new Set<FieldName>([
  ...rels,
  'term',
  'scheme',
  'otherScheme',
  'locationId',
  'location',
]);

/** Sets a field. The first text wins; for categories the first that names an event type, otherwise the first. */
export function setField(fields: AtomFields, name: FieldName, text: string): void {
  if (text === '' && absentWhenEmpty.has(name)) return;
  const known = fields[name];
  if (known === undefined || (name === 'term' && !isOfEvent(known) && isOfEvent(text))) fields[name] = text;
}

export function isOfEvent(term: string): boolean {
  return term.includes('#event.');
}
