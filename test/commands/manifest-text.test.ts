import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { type ManifestOptions, createManifest } from '../../src/commands/manifest-text.ts';
import { readManifest } from '../../src/config/documents/trusted-documents.ts';
import { runProgram } from '../support/program.ts';
import { temporaryDirectory } from '../support/service.ts';

const directory = temporaryDirectory();
const hashOf = (text: string, algorithm = 'sha256') => createHash(algorithm).update(text).digest('hex');

function file(name: string, content: unknown): string {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function problems(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const text = 'query Book { book(id: 7) { title } }';
const asHashes: ManifestOptions = { format: 'hashes', typename: false };

test.each<[string, unknown, string]>([
  ['with hashes as keys', { [hashOf(text)]: text }, hashOf(text)],
  ['written by GraphQL Code Generator', { [`sha256:${hashOf(text)}`]: text }, hashOf(text)],
  ['with SHA-1 hashes', { [hashOf(text, 'sha1')]: text }, hashOf(text, 'sha1')],
  ['written by the Relay compiler', { [hashOf(text, 'md5')]: text }, hashOf(text, 'md5')],
  [
    'in the format of Apollo',
    {
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: hashOf(text), name: 'Book', type: 'query', body: text }],
    },
    hashOf(text),
  ],
  [
    'in the format of Apollo with names as ids',
    {
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: 'Book', name: 'Book', type: 'query', body: text }],
    },
    'Book',
  ],
])('a manifest %s is accepted', (name, content, id) => {
  const { trustedDocuments } = readConfig({ PERSISTED_OPERATIONS: file(`${name}.json`, content) });
  expect([...trustedDocuments]).toEqual([[id, text]]);
});

test.each<[string, unknown, string]>([
  ['not JSON', '{', 'it is not JSON'],
  ['a list', [text], 'it is not an object of documents by their hashes'],
  ['empty', {}, 'it has no documents'],
  ['not texts', { a: { text } }, '"a" is not a text'],
  ['wrong hashes', { [hashOf(text)]: `${text} ` }, `"${hashOf(text)}" is not the hash of its text`],
  ['not GraphQL', { a: 'query {' }, '"a" is no document: Syntax Error: Expected Name, found <EOF>.'],
  [
    'a later version',
    { format: 'apollo-persisted-query-manifest', version: 2, operations: [] },
    'it is not version 1 of apollo-persisted-query-manifest',
  ],
  [
    'operations without text',
    { format: 'apollo-persisted-query-manifest', version: 1, operations: [{ id: 'a', body: text }, { id: 'b' }] },
    'operation 2 has no id or no body',
  ],
])('a manifest that is %s is reported as a wrong setting', (name, content, why) => {
  expect(problems({ PERSISTED_OPERATIONS: file(`${name}.json`, content), PORT: 'x' })).toEqual([
    'PORT must be a whole number from 0 to 65535, not "x"',
    `PERSISTED_OPERATIONS must be a manifest of documents: ${why}`,
  ]);
});

test('a missing manifest is reported, and so is PERSISTED_ONLY without a manifest', () => {
  expect(problems({ PERSISTED_OPERATIONS: join(directory, 'nowhere') })).toEqual([
    `PERSISTED_OPERATIONS must be a manifest of documents: ${join(directory, 'nowhere')} cannot be read (ENOENT).`,
  ]);
  expect(problems({ PERSISTED_ONLY: 'on' })).toEqual([
    'PERSISTED_OPERATIONS must be set too, because PERSISTED_ONLY is on',
  ]);
  expect(readConfig({}).trustedDocuments.size).toBe(0);
});

test('the program does not start with a wrong manifest, and prints the reason', async () => {
  const { code, out, err } = await runProgram({ PORT: '0', PERSISTED_OPERATIONS: file('wrong.json', '[]') });
  expect([code, out, err]).toEqual([
    1,
    '',
    'The settings cannot be used:\n  PERSISTED_OPERATIONS must be a manifest of documents: it is not an object of documents by their hashes\n',
  ]);
});

test('the manifest command prints a manifest of the published operations, which the facade accepts', async () => {
  const { code, out, err } = await runProgram({}, ['manifest', 'operations']);
  expect([code, err]).toEqual([0, '']);
  const documents = readManifest(file('operations.json', out));
  const texts = Object.entries(JSON.parse(out) as Record<string, string>);
  expect(texts.length).toBe(documents.size);
  for (const [id, printed] of texts) expect(hashOf(printed)).toBe(id);
  const names = (source: string) => parse(source).definitions.map((node) => 'name' in node && node.name?.value);
  const book = names(readFileSync('operations/book.graphql', 'utf8'))[0];
  expect([...documents.values()].flatMap(names)).toContain(book);
});

test('the manifest command prints the format of Apollo on request, and reports unreadable files', async () => {
  const { code, out } = await runProgram({}, ['manifest', '--format', 'apollo', 'operations/book.graphql']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: [{ name: 'Book', type: 'query' }],
  });
  expect(await runProgram({}, ['manifest', join(directory, 'nowhere')])).toEqual({
    code: 1,
    out: '',
    err: `${join(directory, 'nowhere')} cannot be read (ENOENT).\n`,
  });
});

test('each operation of a manifest contains exactly the fragments it needs, of its own file first', () => {
  const folder = join(directory, 'app');
  mkdirSync(join(folder, 'deep'), { recursive: true });
  writeFileSync(join(folder, 'a.graphql'), 'query A { book(id: 1) { ...Short } } query B { book(id: 2) { id } }');
  writeFileSync(join(folder, 'deep/c.gql'), 'query C { book(id: 3) { ...Title } } fragment Title on Book { id }');
  writeFileSync(
    join(folder, 'title.graphql'),
    'fragment Title on Book { title } fragment Short on Book { id ...More } fragment More on Book { pages }',
  );
  writeFileSync(join(folder, 'notes.txt'), 'not GraphQL');
  const documents = Object.values(JSON.parse(createManifest([folder], schema, asHashes)) as Record<string, string>);
  expect(documents.map((each) => each.replaceAll(/\s+/g, ' '))).toEqual([
    'query A { book(id: 1) { ...Short } } fragment Short on Book { id ...More } fragment More on Book { pages }',
    'query B { book(id: 2) { id } }',
    'query C { book(id: 3) { ...Title } } fragment Title on Book { id }',
  ]);
  // With two candidates in other files the fragment is ambiguous.
  writeFileSync(join(folder, 'd.graphql'), 'query D { book(id: 4) { ...Title } }');
  expect(() => createManifest([folder], schema, asHashes)).toThrow(/d\.graphql: D: .* only one fragment named "Title"/);
});

test.each([
  ['an unknown field', 'query A { book(id: 1) { nope } }', /a\.graphql: A: Cannot query field "nope"/],
  ['an unknown fragment', 'query A { book(id: 1) { ...Nope } }', /a\.graphql: A: Unknown fragment "Nope"/],
  ['a syntax error', 'query A {', /a\.graphql: Syntax Error/],
  ['no operation', 'fragment A on Book { id }', /There are no operations/],
])('a manifest of files with %s is rejected', (_, source, why) => {
  expect(() => createManifest([file('a.graphql', source)], schema, asHashes)).toThrow(why);
});

test('a manifest for Apollo requires a unique name of each operation', () => {
  const apollo = { format: 'apollo', typename: false } as const;
  expect(() => createManifest([file('b.graphql', '{ __typename }')], schema, apollo)).toThrow(/has no name/);
  const files = ['c.graphql', 'd.graphql'].map((name) => file(name, text));
  expect(() => createManifest(files, schema, apollo)).toThrow(/Book is used twice/);
});
