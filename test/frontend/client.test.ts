/** The package of front ends, catalog-graphql-client: packed, installed, and compiled with the clients that use it. */
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { buildSchema, extendSchema, parse, print, validate, validateSchema } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { contentOf } from '../support/package-content.ts';
import { temporaryDirectory } from '../support/service.ts';
import { node } from './front-end.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const client = join(root, 'client');
const LOADED = { timeout: 180_000 };
const npm = (folder: string, ...args: string[]) =>
  promisify(execFile)('npm', [...args, '--offline', '--no-audit', '--no-update-notifier'], { cwd: folder });
const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

const elsewhere = temporaryDirectory();
const installed = join(elsewhere, 'node_modules/catalog-graphql-client');
let tarball = '';
beforeAll(async () => {
  const { stdout } = await npm(client, 'pack', '--ignore-scripts', '--pack-destination', elsewhere);
  tarball = join(elsewhere, stdout.trim());
  writeFileSync(join(elsewhere, 'package.json'), '{ "private": true }');
  await npm(elsewhere, 'install', tarball);
});

test('the package is one package of at most 1 MB, and has the version of the facade', () => {
  const packages = readdirSync(join(elsewhere, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(packages).toEqual(['catalog-graphql-client']);
  expect(contentOf(installed).bytes).toBeLessThan(1_000_000);
  const versionOf = (folder: string) => (JSON.parse(read(folder, 'package.json')) as { version: string }).version;
  expect(versionOf(installed)).toBe(versionOf(root));
});

test('the package contains a module of each source for both kinds of programs, with types, and nothing else', () => {
  const modules = readdirSync(join(client, 'src')).map((file) => basename(file, '.ts'));
  const files = [...modules.filter((name) => name !== 'price'), 'client-directives', 'index'].flatMap((name) =>
    ['cjs', 'd.cts', 'd.ts', 'js'].map((extension) => `dist/${name}.${extension}`),
  );
  const entries = ['apollo', 'errors', 'eslint', 'price', 'scalars', 'trusted', 'urql'];
  expect(contentOf(installed).files).toEqual(
    [
      ...files,
      'dist/price.cjs',
      'dist/price.d.cts',
      'dist/price.licenses.txt',
      ...entries.map((entry) => `${entry}/package.json`),
      'LICENSE',
      'README.md',
      'extra.graphqls',
      'manifest.json',
      'package.json',
      'schema.graphql',
    ].sort(),
  );
});

test('the package contains the licenses of the packages that its price bundles', () => {
  const licenses = read(installed, 'dist/price.licenses.txt');
  for (const name of ['@pothos/core', 'graphql-scalars', 'lru-cache'])
    expect(licenses).toMatch(new RegExp(`^${name} [\\d.]+\\n\\n\\S`, 'm'));
});

test('publint and "Are the types wrong" find nothing in it', LOADED, async () => {
  const { code, out } = await node(root, ['test/frontend/package-problems.mjs', tarball]);
  expect({ code, ...(JSON.parse(out) as object) }).toEqual({
    code: 0,
    entrypoints: expect.arrayContaining([
      '.',
      './apollo',
      './urql',
      './trusted',
      './errors',
      './price',
      './eslint',
      './scalars',
    ]) as string[],
    messages: [],
    problems: [],
  });
});

test('in a folder with graphql and ESLint alone it prices documents, and its rules check files', LOADED, async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  await npm(folder, 'install', tarball);
  symlinkSync(join(root, 'node_modules/graphql'), join(folder, 'node_modules/graphql'));
  writeFileSync(
    join(folder, 'eslint.config.mjs'),
    `import * as catalog from 'catalog-graphql-client/eslint';
const rules = { 'catalog/max-calls': 'error', 'catalog/price': 'warn' };
export default [
  { files: ['**/*.js'], plugins: { catalog }, rules },
  { files: ['**/*.graphql'], languageOptions: { parser: catalog.parser }, plugins: { catalog }, rules },
];
`,
  );
  writeFileSync(join(folder, 'book.graphql'), 'query Book { book(id: 1) { title } }');
  writeFileSync(
    join(folder, 'dear.js'),
    'gql`{ top250(first: 100) { nodes { directors { works { nodes { subject { summary } } } } } } }`;',
  );
  const { code, out } = await node(folder, [
    join(root, 'lint/node_modules/eslint/bin/eslint.js'),
    '--format',
    'json',
    '.',
  ]);
  const results = (JSON.parse(out) as { messages: { ruleId: string; message: string }[] }[]).map(({ messages }) =>
    messages.filter(({ ruleId }) => ruleId),
  );
  expect([code, results.flat().map(({ ruleId }) => ruleId)]).toEqual([
    1,
    ['catalog/price', 'catalog/max-calls', 'catalog/price'],
  ]);
  expect(results[0]![0]!.message).toBe('Book: 1 call');
  expect(results[1]![0]!.message).toMatch(/Cheaper: with first: \d+ at top250/);
  // Its types are those that ESLint wants of a plugin.
  symlinkSync(join(root, 'lint/node_modules/eslint'), join(folder, 'node_modules/eslint'));
  writeFileSync(
    join(folder, 'config.ts'),
    `import type { Linter } from 'eslint';
import * as catalog from 'catalog-graphql-client/eslint';
import { price } from 'catalog-graphql-client/price';
export const config: Linter.Config = { plugins: { catalog }, languageOptions: { parser: catalog.parser } };
export const calls: number | undefined = price('{ a }').calls?.most;
`,
  );
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', 'config.ts'];
  expect(await node(folder, [join(root, 'node_modules/typescript/bin/tsc'), ...options])).toEqual({ code: 0, out: '' });
  const script = `const { price } = require('catalog-graphql-client/price');
const { rules } = require('catalog-graphql-client/eslint');
console.log(price('{ book(id: 1) { title } }').calls.most, Object.keys(rules).join());`;
  expect((await node(folder, ['-e', script])).out.trim()).toBe('1 max-calls,price');
});

test('a front end gets only what it imports, and no client library', async () => {
  const bundle = async (contents: string) => {
    const stdin = { contents, resolveDir: elsewhere };
    const { outputFiles } = await build({
      stdin,
      bundle: true,
      write: false,
      format: 'esm',
      logLevel: 'silent',
    });
    return outputFiles[0]!.text;
  };
  const document = await bundle("export { BookDocument } from 'catalog-graphql-client'");
  expect(document).toContain('BookDocument');
  expect(document).not.toContain('EventDocument');
  expect(document.length).toBeLessThan(20_000);
  const apollo = await bundle("export { cacheOptions } from 'catalog-graphql-client/apollo'");
  expect(apollo).toContain('keyFields');
  expect(apollo.length).toBeLessThan(10_000);
  expect(await bundle("export { documentId } from 'catalog-graphql-client/trusted'")).not.toContain('FragmentSpread');
});

test('schema and extensions are those of the graph', () => {
  expect(read(installed, 'schema.graphql')).toBe(read(root, 'schema.graphql'));
  const extended = read(installed, 'extra.graphqls');
  for (const type of ['Book', 'Collection', 'Note', 'Subject', 'User'])
    expect(extended).toContain(`extend type ${type} @typePolicy(keyFields: "id")`);
  expect(extended).toContain('extend type CollectionConnection @connection');
  expect(extended).not.toContain('Rating'); // has no id
});

/** What Apollo Kotlin knows of itself: the definitions of specs.apollo.dev. */
const KOTLIN = `
  scalar Import
  directive @link(url: String!, as: String, import: [Import]) repeatable on SCHEMA
  directive @typePolicy(keyFields: String! = "", embeddedFields: String! = "") on OBJECT | INTERFACE | UNION
  directive @fieldPolicy(forField: String!, keyArgs: String! = "", paginationArgs: String! = "") repeatable on OBJECT
  directive @connection on OBJECT
  enum CatchTo { RESULT NULL THROW }
  directive @catch(to: CatchTo! = RESULT, levels: [Int!]! = [0]) on FIELD
  directive @catchByDefault(to: CatchTo!) on SCHEMA | QUERY | MUTATION | SUBSCRIPTION | FRAGMENT_DEFINITION`;

test('extensions are valid with the schema, define nothing twice, and let a Kotlin document catch errors', () => {
  const extended = parse(read(installed, 'extra.graphqls'));
  const schema = extendSchema(buildSchema(`${read(installed, 'schema.graphql')}${KOTLIN}`), extended);
  expect(validateSchema(schema)).toEqual([]);
  const links = extended.definitions.flatMap(({ directives = [] }) =>
    directives.filter(({ name }) => name.value === 'link').map((each) => print(each)),
  );
  // The schema defines @semanticNonNull itself, as Apollo Kotlin does: imported too, it would be there twice.
  expect(links.join()).not.toContain('semanticNonNull');
  expect(print(schema.getDirective('semanticNonNull')!.astNode!)).toContain('levels: [Int!]! = [0]');
  expect(extended.definitions.filter(({ kind }) => !kind.endsWith('Extension'))).toEqual([]);
  const document = `query Film @catchByDefault(to: THROW) { subject(id: "1") { genres photos { nodes { id } } casts @catch(to: RESULT) { id } } }`;
  expect(validate(schema, parse(document))).toEqual([]);
});

test('a program of CommonJS, as Jest runs it, loads each entry', LOADED, async () => {
  const entries = ['', '/apollo', '/urql', '/trusted', '/errors', '/scalars'];
  const program = `for (const entry of ${JSON.stringify(entries)})
    console.log(Object.keys(require('catalog-graphql-client' + entry)).length > 0, entry);`;
  writeFileSync(join(elsewhere, 'program.cjs'), program);
  // The flag is for versions of Node that load ES modules with require().
  const flag = process.allowedNodeEnvironmentFlags.has('--no-experimental-require-module');
  const { out } = await node(elsewhere, [...(flag ? ['--no-experimental-require-module'] : []), 'program.cjs']);
  expect(out.trimEnd().split('\n')).toEqual(entries.map((entry) => `true ${entry}`));
});

test.each([
  ['node10', 'commonjs'],
  ['node10', 'es2022'],
  ['node16', 'node16'],
  ['bundler', 'es2022'],
])(
  'TypeScript finds the types with "moduleResolution": "%s" and "module": "%s"',
  LOADED,
  async (resolution, module) => {
    const page = `import { BookDocument } from 'catalog-graphql-client';
     import { cacheOptions } from 'catalog-graphql-client/apollo';
     import { cacheOptions as urqlOptions } from 'catalog-graphql-client/urql';
     import { fieldErrors, type ErrorCode } from 'catalog-graphql-client/errors';
     import { localDateTime } from 'catalog-graphql-client/scalars';
     import { documentIds } from 'catalog-graphql-client/trusted';
     export const code: ErrorCode = 'FORBIDDEN';
     export const all = [BookDocument.definitions, cacheOptions().typePolicies, urqlOptions().keys, fieldErrors([])];
     export const texts: string[] = [documentIds.Book, localDateTime('2026-01-01T00:00:00').toISOString()];
     // @ts-expect-error -- a string
     export const wrong: number = documentIds.Book;`;
    writeFileSync(join(elsewhere, 'entries.ts'), page);
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022'];
    const kind = ['--module', module, '--moduleResolution', resolution];
    const { out } = await node(elsewhere, [
      join(root, 'node_modules/typescript/bin/tsc'),
      ...flags,
      ...kind,
      'entries.ts',
    ]);
    expect(out).toBe('');
  },
);

test('a tool that reads no exports finds each entry by its folder', () => {
  for (const entry of ['apollo', 'urql', 'trusted', 'errors', 'scalars']) {
    const { main, types } = JSON.parse(read(installed, entry, 'package.json')) as { main: string; types: string };
    for (const file of [main, types]) expect(read(installed, entry, file)).toContain('export');
  }
  const { main } = JSON.parse(read(installed, 'package.json')) as { main: string };
  expect(read(installed, main)).toContain('export');
});

test('a front end without the package graphql gets the same types', LOADED, async () => {
  writeFileSync(
    join(elsewhere, 'page.ts'),
    `import { BookDocument } from 'catalog-graphql-client';
     import { documentId } from 'catalog-graphql-client/trusted';
     export const id: string = documentId(BookDocument);
     interface OtherDocument { kind: 'Document'; definitions: readonly { kind: string }[]; }
     type Typed<Result, Variables> = OtherDocument & { __apiType?: (variables: Variables) => Result };
     declare function query<Result, Variables>(document: Typed<Result, Variables>, variables: Variables): Result;
     export const title: string | undefined = query(BookDocument, { id: '1' }).book?.title;
     // @ts-expect-error -- the query does not select it
     query(BookDocument, { id: '1' }).book?.rating?.value;`,
  );
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipDefaultLibCheck'];
  const { out } = await node(elsewhere, [join(root, 'node_modules/typescript/bin/tsc'), ...flags, 'page.ts']);
  expect(out).toBe('');
});
