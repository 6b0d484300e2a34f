/** Each limit of documents, just met and passed by one: in the server, and in what `check` says. */
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { createAssess } from '../../../src/engine/documents/assess.ts';
import type { DocumentSettings } from '../../../src/engine/documents/limits.ts';
import { createPrepare } from '../../../src/engine/documents/prepare.ts';
import { schema } from '../../../src/graph/schema.ts';

const config = readConfig({});
const times = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');
/** Limits that the documents of other limits would pass. */
const wide = {
  maxAliases: 5_000,
  maxRootFields: 5_000,
  maxUpstreamCalls: 1_000_000,
  maxDocumentCharacters: 1_000_000,
  maxTokens: 1_000_000,
};
const titles = (count: number) => `{ book(id: 7) { ${times(count, (at) => `a${at}: title`)} } }`;
/** Eight tokens before the fields, two after them, and three for a field with an alias. */
const tokens = (size: number) =>
  `{ book(id: 7) { ${times(Math.floor((size - 10) / 3), (at) => `a${at}: title`)} ${'id '.repeat((size - 10) % 3)} } }`;

const limits: [
  limit: keyof DocumentSettings,
  code: string,
  most: number,
  document: (size: number) => string,
  room?: object,
][] = [
  ['maxDocumentCharacters', 'DOCUMENT_TOO_LONG', 20_000, (size) => '{ book(id: 7) { id } }'.padEnd(size, ' ')],
  ['maxTokens', 'TOO_MANY_TOKENS', 4_000, tokens, { maxFields: 9_000, maxPlannedFields: 9_000 }],
  [
    'maxNesting',
    'TOO_DEEP',
    100,
    (size) => `{ book(id: 7) ${'{ ... '.repeat(size - 2)} { id } ${'}'.repeat(size - 2)} }`,
  ],
  ['maxDepth', 'TOO_DEEP', 14, nested],
  ['maxFields', 'TOO_MANY_FIELDS', 1_000, (size) => titles(size - 1)],
  ['maxAliases', 'TOO_MANY_ALIASES', 60, titles],
  [
    'maxDirectives',
    'TOO_MANY_DIRECTIVES',
    50,
    (size) => `{ book(id: 7) { ${times(size, (at) => `a${at}: id @skip(if: false)`)} } }`,
  ],
  [
    'maxFragments',
    'TOO_MANY_FRAGMENTS',
    100,
    (size) =>
      `{ book(id: 7) { ${times(size, (at) => `...F${at}`)} } } ${times(size, (at) => `fragment F${at} on Book { id }`)}`,
  ],
  [
    'maxRootFields',
    'TOO_MANY_ROOT_FIELDS',
    30,
    (size) => `{ ${times(size, (at) => `a${at}: book(id: ${at + 1}) { id }`)} }`,
  ],
  [
    'maxMutations',
    'TOO_MANY_MUTATIONS',
    10,
    (size) => `mutation { ${times(size, (at) => `a${at}: likeNote(input: { id: "${at + 1}" }) { __typename }`)} }`,
  ],
];

/** Of this depth: `__typename` is not counted. */
function nested(levels: number): string {
  const path = [
    'book(id: 7)',
    ...Array.from({ length: levels }, (_, at) => ['series', 'books(first: 1)', 'nodes'][at % 3]!),
  ];
  const taken = path.slice(0, levels);
  return `{ ${taken.map((field) => `${field} {`).join(' ')} __typename ${'}'.repeat(taken.length)} }`;
}

test.each(limits)('%s', (limit, code, most, document, room = {}) => {
  expect(config[limit]).toBe(most);
  const settings = { ...config, ...wide, ...room, [limit]: most };
  const prepare = createPrepare(schema, settings);
  const assess = createAssess(schema, settings);
  const codes = (size: number) =>
    [prepare(document(size), undefined), assess(document(size))].map(({ errors = [] }) => [
      ...new Set(errors.map(({ extensions }) => extensions.code)),
    ]);
  expect(codes(most)).toEqual([[], []]);
  expect(codes(most + 1)).toEqual([[code], [code]]);
});

const costs: [limit: 'maxUpstreamCalls' | 'maxItems' | 'maxValues', code: string, document: string][] = [
  ['maxUpstreamCalls', 'TOO_MANY_CALLS', `{ ${times(20, (at) => `a${at}: book(id: ${at + 1}) { title }`)} }`],
  [
    'maxUpstreamCalls',
    'TOO_MANY_CALLS',
    'mutation { a: likeNote(input: { id: 1 }) { note { title } } b: likeNote(input: { id: 2 }) { note { title } } }',
  ],
  ['maxItems', 'TOO_MANY_ITEMS', '{ top250(first: 50) { nodes { id } } }'],
  ['maxValues', 'TOO_MANY_VALUES', '{ top250(first: 50) { nodes { id title } } }'],
];
test.each(costs)('%s: what an operation may cost is within a limit that it just meets: %s', (limit, code, document) => {
  const { cost } = createAssess(schema, config)(document);
  const most = { maxUpstreamCalls: cost!.calls.most, maxItems: cost!.items, maxValues: cost!.values }[limit];
  const codesAt = (size: number) =>
    createAssess(schema, { ...config, [limit]: size, possibleCallsFactor: 1 })(document).errors.map(
      ({ extensions }) => extensions.code,
    );
  expect(most).toBeGreaterThan(1);
  expect([codesAt(most), codesAt(most - 1)]).toEqual([[], [code]]);
});

test('a query is rejected as soon as one call more is likely than it may make', () => {
  const document =
    '{ book(id: 1) { title annotations(first: 5) { nodes { content(format: HTML) author { name } } } } }';
  const { cost } = createAssess(schema, config)(document);
  const { likely, most } = cost!.calls;
  const codesAt = (maxUpstreamCalls: number) =>
    createAssess(schema, { ...config, maxUpstreamCalls })(document).errors.map(({ extensions }) => extensions.code);
  expect(most).toBeGreaterThan(likely);
  expect([codesAt(likely), codesAt(likely - 1)]).toEqual([[], ['TOO_MANY_CALLS']]);
});
