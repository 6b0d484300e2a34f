import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../../src/config/read.ts';
import { schema } from '../../../../src/graph/schema.ts';
import { createReportedFeature } from '../../../../src/server/features/reported/feature.ts';
import { COUNTS_MAX, createRefusalCounts } from '../../../../src/server/features/reported/refusal-counts.ts';
import { type UsageReport, mergeReports } from '../../../../src/server/features/usage/report.ts';
import { createTrusted } from '../../../../src/server/graphql/documents/trusted.ts';
import { codesIn, startFacade } from '../../../support/start-facade.ts';
import { json } from '../../../support/hostile.ts';

afterEach(() => void vi.useRealTimers());

const ios = { headers: { 'apollographql-client-name': 'ios', 'apollographql-client-version': '5.2' } };
const usageOf = async (url: string) => (await (await fetch(new URL('/usage', url))).json()) as UsageReport;
const times = (n: number, text: (at: number) => string) => Array.from({ length: n }, (_, at) => text(at)).join(' ');

const limits = {
  ...{
    maxDocumentCharacters: '800',
    maxTokens: '60',
    maxNesting: '8',
    maxDepth: '4',
    maxFields: '30',
    maxAliases: '3',
  },
  ...{
    maxRootFields: '5',
    maxFragments: '1',
    maxDirectives: '2',
    maxMutations: '1',
    maxUpstreamCalls: '3',
    maxItems: '50',
  },
  ...{ maxValues: '300', maxPlannedFields: '40' },
};
const like = 'likeNote(input: { id: "1" }) { note { id } }';

/** A document over each limit, by the code that would reject it. */
const over: [code: string, limit: number | undefined, document: string][] = [
  ['DOCUMENT_TOO_LONG', 800, `query Q { book(id: 7) { id } } #${'x'.repeat(900)}`],
  ['TOO_MANY_TOKENS', undefined, `query Q { nodes(ids: [${times(60, (at) => `"${at}"`)}]) { id } }`],
  ['TOO_DEEP', 4, 'query Q { book(id: 7) { series { books { nodes { id } } } } }'],
  ['TOO_MANY_FIELDS', 30, `query Q { book(id: 7) { ${'id '.repeat(40)} } }`],
  ['TOO_MANY_FIELDS', 40, 'query Q { node(id: "Book:7") { id a: id b: id c: id } }'],
  ['TOO_MANY_ALIASES', 3, `query Q { book(id: 7) { ${times(4, (at) => `a${at}: id`)} } }`],
  ['TOO_MANY_ROOT_FIELDS', 5, `query Q { ${times(6, () => '__typename')} }`],
  [
    'TOO_MANY_FRAGMENTS',
    1,
    'query Q { ...A ...B } fragment A on Query { __typename } fragment B on Query { __typename }',
  ],
  ['TOO_MANY_DIRECTIVES', 2, `query Q { ${times(3, () => '__typename @skip(if: false)')} }`],
  ['TOO_MANY_MUTATIONS', 1, `mutation Q { a: ${like} b: ${like} }`],
  ['TOO_MANY_CALLS', 3, `query Q { nodes(ids: [${times(4, (at) => `"Book:${at}"`)}]) { id } }`],
  ['TOO_MANY_ITEMS', 50, 'query Q { searchBooks(query: "x", first: 60) { nodes { id } } }'],
  [
    'TOO_MANY_VALUES',
    300,
    'query Q { searchBooks(query: "x", first: 48) { nodes { id title summary price pages binding isbn10 } } }',
  ],
];

const service = json('{"count":0,"start":0,"total":0,"books":[],"id":"7","title":"x"}');

test.each(over)(
  'with LIMITS=report an operation with %s, limit %i, runs and is counted',
  async (code, limit, query) => {
    const { url, books, execute, close } = await startFacade({ ...limits, limits: 'report', usage: 'on' });
    books.behave(service);
    const answer = await execute(query, ios);
    expect(answer).toHaveProperty('data');
    expect(codesIn(answer)).not.toContain(code);
    const { refusals } = await usageOf(url);
    expect(refusals).toContainEqual(
      expect.objectContaining({
        code,
        operation: 'Q',
        client: 'ios',
        version: '5.2',
        requests: 1,
        ...(limit && { limit }),
      }),
    );
    await close();
    const strict = await startFacade(limits);
    expect(codesIn(await strict.execute(query, ios))).toContain(code);
    expect(strict.books.requests).toEqual([]);
    await strict.close();
  },
);

test('what is within the limits is not counted, and what is over ten times a limit is rejected', async () => {
  const { url, books, execute } = await startFacade({ maxUpstreamCalls: '3', limits: 'report', usage: 'on' });
  books.behave(service);
  const nodes = (n: number) => `{ nodes(ids: [${times(n, (at) => `"Book:${at}"`)}]) { id } }`;
  expect(codesIn(await execute(nodes(3)))).not.toContain('TOO_MANY_CALLS');
  expect((await usageOf(url)).refusals).toEqual([]);
  const before = books.requests.length;
  const { errors } = await execute(nodes(31));
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_CALLS', limit: 30, actual: 31 });
  expect(books.requests.length).toBe(before);
  expect((await usageOf(url)).refusals).toEqual([]);
});

test('one line a minute says what would be rejected, the most frequent first', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { logged, books, execute, facade } = await startFacade({
    maxAliases: '1',
    maxFields: '3',
    limits: 'report',
    logLevel: 'info',
  });
  books.behave(service);
  const aliases = '{ a: __typename b: __typename }';
  for (let n = 0; n < 3; n++) await execute(aliases, ios);
  await execute('query Q { book(id: 7) { id title price pages } }');
  const lines = () => logged.filter((line) => line.includes('would be rejected'));
  expect(lines()).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(lines()).toHaveLength(1);
  expect(JSON.parse(lines()[0]!)).toMatchObject({
    requests: 4,
    refusals: [
      { code: 'TOO_MANY_ALIASES', operation: 'unnamed', client: 'ios', version: '5.2', requests: 3 },
      { code: 'TOO_MANY_FIELDS', operation: 'Q', client: 'unnamed', requests: 1 },
    ],
  });
  // A minute without any has no line, and what is counted last has one at the end.
  vi.advanceTimersByTime(60_000);
  expect(lines()).toHaveLength(1);
  await execute(aliases);
  await facade.end();
  expect(lines()).toHaveLength(2);
});

test('with PERSISTED_ONLY=report a document that is not in the manifest runs and is counted, with its hash', async () => {
  const trusted = 'query Known { __typename }';
  const persistedOperations = join(mkdtempSync(join(tmpdir(), 'manifest-')), 'manifest.json');
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  writeFileSync(persistedOperations, JSON.stringify({ [hash(trusted)]: trusted }));
  const { url, execute } = await startFacade({ persistedOperations, persistedOnly: 'report', usage: 'on' });
  const other = 'query Other { viewer { isLoggedIn } }';
  expect(await execute(trusted, ios)).toEqual({ data: { __typename: 'Query' } });
  expect((await usageOf(url)).refusals).toEqual([]);
  for (let n = 0; n < 2; n++) expect(await execute(other, ios)).toEqual({ data: { viewer: { isLoggedIn: false } } });
  expect((await usageOf(url)).refusals).toEqual([
    expect.objectContaining({
      ...{ code: 'PERSISTED_ONLY', operation: 'Other', client: 'ios', version: '5.2' },
      ...{ requests: 2, hash: hash(other) },
    }),
  ]);
});

test('if both are in force, nothing is added to the path of an operation and to /usage', async () => {
  const log = pino({ level: 'silent' });
  const feature = createReportedFeature({ config: readConfig({}), schema, log, trusted: createTrusted(new Map()) });
  expect(Object.keys(feature)).toEqual(['refusals']);
  const { url } = await startFacade({ usage: 'on' });
  expect(await usageOf(url)).not.toHaveProperty('refusals');
});

test('names that clients choose make no more counts than allowed', () => {
  const counts = createRefusalCounts();
  const client = { name: 'ios', version: '' };
  const count = (name: string) => counts.count({ code: 'TOO_DEEP' }, { name, client, calls: 1, hash: 'x' });
  for (let at = 0; at < 2 * COUNTS_MAX; at++) count(`Q${at}`);
  expect(counts.all()).toHaveLength(COUNTS_MAX + 1);
  expect(counts.all().at(-1)).toMatchObject({
    operation: 'other',
    client: 'other',
    requests: COUNTS_MAX,
    calls: COUNTS_MAX,
  });
  count('Q0');
  expect(counts.all()[0]).toMatchObject({ operation: 'Q0', requests: 2 });
});

test('the counts of several processes are added', async () => {
  const { url, execute } = await startFacade({ maxAliases: '1', limits: 'report', usage: 'on' });
  await execute('query Q { a: __typename b: __typename c: __typename }', ios);
  const report = await usageOf(url);
  const { refusals } = mergeReports([report, report]);
  expect(refusals).toMatchObject([{ code: 'TOO_MANY_ALIASES', operation: 'Q', requests: 2, most: 3 }]);
});
