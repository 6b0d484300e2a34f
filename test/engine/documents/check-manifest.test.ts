import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configWith } from '../../support/config.ts';
import { schema } from '../../../src/graph/schema.ts';
import { createLog } from '../../../src/lib/log.ts';
import { checkManifest } from '../../../src/engine/documents/check-manifest.ts';
import { createFacade } from '../../../src/facade.ts';

/** The log lines about a manifest of these documents. */
function logged(documents: Record<string, string>, settings = {}) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const config = { ...configWith({}, settings), trustedDocuments: new Map(Object.entries(documents)) };
  checkManifest(schema, config, createLog('info', { write }));
  return lines;
}

const good = 'query Good { book(id: "7") { title } }';

test('documents that may run are not mentioned, whatever variables they need', () => {
  const documents = {
    a: good,
    b: 'query A($id: ID!) { book(id: $id) { title } } query B($ids: [ID!]!, $first: Int!, $if: Boolean!) { nodes(ids: $ids) { id } searchBooks(query: "x", first: $first) { nodes { title @include(if: $if) } } }',
    c: 'mutation C($input: CollectBookInput!) { collectBook(input: $input) { created } }',
    d: 'query D($status: CollectionStatus!, $first: Int = 5) { user(id: "alice") { bookCollections(status: $status, first: $first) { totalCount } } }',
    // Too many calls only with a large value.
    e: 'query E($first: Int!) { top250(first: $first) { nodes { directors { works(first: 20) { totalCount } } } } }',
  };
  expect(logged(documents)).toEqual([]);
});

test.each([
  ['a field that does not exist', 'query Bad { book(id: "7") { titel } }', {}, /Cannot query field "titel"/],
  ['an argument of another type', 'query Bad { book(id: 7.5) { title } }', {}, /ID cannot represent/],
  ['two operations, of which one is invalid', 'query Good { viewer { isLoggedIn } } query Bad { nope }', {}, /nope/],
  [
    'too many characters',
    'query Bad { book(id: "7") { title } }',
    { maxDocumentCharacters: '20' },
    /Characters in a document: at most 20/,
  ],
  [
    'too deep a nesting',
    'query Bad { book(id: "7") { series { id } } }',
    { maxDepth: '2' },
    /Nesting of fields: at most 2/,
  ],
  [
    'too many fields',
    'query Bad { book(id: "7") { title id } }',
    { maxFields: '2' },
    /Fields in a document: at most 2/,
  ],
  ['too many planned fields', 'query Bad { book(id: "7") { title id } }', { maxPlannedFields: '2' }, /at most 2/],
  [
    'too many calls',
    'query Bad { a: book(id: "7") { title } b: book(id: "8") { title } }',
    { maxUpstreamCalls: '1' },
    /is likely to cost 2 calls/,
  ],
  [
    'too many calls for any variable',
    'query Bad($a: ID!) { a: book(id: $a) { title } b: book(id: "8") { title } }',
    { maxUpstreamCalls: '1' },
    /is likely to cost 2 calls/,
  ],
] as const)('the start tells the name of a trusted document with %s', (_, text, settings, problem) => {
  const [line, ...more] = logged({ good, bad: text }, settings);
  expect(more).toEqual([]);
  expect(line).toMatchObject({
    level: 'warn',
    operations: expect.arrayContaining([
      { operation: 'Bad', problem: expect.stringMatching(problem) as string },
    ]) as object,
    msg: expect.stringMatching(/always rejected: .*\bBad: /s) as string,
  });
});

test('an operation without a name is called by the id of its document', () => {
  expect(logged({ 'the-id': '{ nope }' })).toMatchObject([{ operations: [{ operation: 'the-id' }] }]);
});

test('of many rejected documents some are named, and the others are counted', () => {
  const documents = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`id${n}`, `query Bad${n} { nope }`]));
  expect(logged(documents)).toMatchObject([{ operations: { length: 20 }, more: 30 }]);
});

test('a facade inside another program tells it too', async () => {
  const text = 'query Outdated { nope }';
  const folder = mkdtempSync(join(tmpdir(), 'catalog-'));
  try {
    const persistedOperations = `${folder}/manifest.json`;
    writeFileSync(persistedOperations, JSON.stringify({ [createHash('sha256').update(text).digest('hex')]: text }));
    const lines: string[] = [];
    const address = 'http://127.0.0.1:1';
    const onLog = (line: string) => void lines.push(line);
    const facade = createFacade({ baseUrl: address, eventBaseUrl: address, persistedOperations, onLog });
    await facade.close();
    expect(lines.join('')).toContain('Outdated: Cannot query field');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
