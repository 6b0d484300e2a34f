import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { tsExamplesOf } from '../support/examples.ts';
import { errorsIn, frontEnd, node, run } from './front-end.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const LOADED = { timeout: 180_000 };

/** The front ends in this folder, each with the tool that generates its types from the schema, if any. */
const frontEnds = {
  relay: ['relay-compiler'],
  codegen: ['graphql-codegen', '--config', 'codegen.ts'],
  tada: ['gql.tada', 'generate-output'],
  published: undefined,
  apollo: undefined,
  urql: undefined,
};
const packageOf = (name: string) => (name === 'published' ? 'catalog-graphql' : 'catalog-graphql-client');

/** Each front end beside a page that reads a field that its query does not select. */
const folders = Object.fromEntries(
  Object.keys(frontEnds).map((name) => [name, frontEnd(name, packageOf(name))]),
) as Record<keyof typeof frontEnds, string>;
/** A front end whose schema has no @semanticNonNull. */
const unmarked = { relay: frontEnd('relay', packageOf('relay')) };
/** What one run of the compiler says of all of them. */
let compiled = '';

beforeAll(async () => {
  const schema = readFileSync(join(root, 'schema.graphql'), 'utf8');
  for (const folder of Object.values(unmarked)) {
    writeFileSync(join(folder, 'unmarked.graphql'), schema.replaceAll(/(?<!directive) @semanticNonNull/g, ''));
    const config = join(folder, 'relay.config.json');
    const settings = readFileSync(config, 'utf8');
    writeFileSync(
      config,
      settings.replace(/(\.\/)?node_modules\/catalog-graphql-client\/schema\.graphql/, './unmarked.graphql'),
    );
  }
  for (const [name, folder] of [...Object.entries(folders), ...Object.entries(unmarked)]) {
    const tool = frontEnds[name as keyof typeof frontEnds];
    if (tool) expect(await run(folder, tool)).toMatchObject({ code: 0 });
  }
  writeFileSync(join(folders.apollo, 'src/client.ts'), tsExamplesOf('docs/front-ends.md')[0]!);
  for (const folder of Object.values(folders)) {
    // The other page differs only in the field.
    const page = readFileSync(join(folder, 'src/bookPage.ts'), 'utf8');
    const title = /book\?\.title\b/;
    expect(page).toMatch(title);
    writeFileSync(join(folder, 'src/wrongPage.ts'), page.replace(title, 'book?.rating?.value'));
  }
  const tsc = join(folders.relay, 'node_modules/.bin/tsc');
  const all = [...Object.values(folders), ...Object.values(unmarked)];
  compiled = (await node(dirname(folders.relay), [tsc, '--build', ...all])).out;
}, LOADED.timeout);

/** The errors of a folder, with paths below it. */
const errorsOf = (folder: string): string[] =>
  errorsIn(compiled)
    .filter((line) => line.startsWith(`${basename(folder)}/`))
    .map((line) => line.slice(basename(folder).length + 1));

describe.each(Object.entries(frontEnds))('the front end %s', (name, tool) => {
  test('compiles against the schema, and not with a field that its query does not select', () => {
    const errors = errorsOf(folders[name as keyof typeof frontEnds]);
    expect(errors.join()).toContain("Property 'value' does not exist");
    expect(errors.filter((line) => !line.startsWith('src/wrongPage.ts'))).toEqual([]);
  });

  if (!tool) return;
  test('rejects a field that the schema does not have', LOADED, async () => {
    const folder = frontEnd(name, packageOf(name));
    const file = join(folder, 'src/bookPage.ts');
    const page = readFileSync(file, 'utf8');
    const line = /^( +)title$/m;
    expect(page).toMatch(line);
    writeFileSync(file, page.replace(line, '$1headline'));
    // gql.tada only writes the schema; its second command checks the documents.
    const checked = await run(folder, name === 'tada' ? ['gql.tada', 'check'] : tool);
    expect(checked.code).not.toBe(0);
    expect(checked.out).toMatch(/headline/);
  });
});

test('the types of Relay, which throws at failed fields, need a check for null only with a schema without @semanticNonNull', () => {
  // With the directive this page compiles: the front end as it is does.
  expect(readFileSync(join(unmarked.relay, 'src/filmPage.ts'), 'utf8')).toContain('subject.genres.join()');
  for (const field of ['genres', 'wishCount', 'casts'])
    expect(errorsOf(unmarked.relay).join()).toContain(`'subject.${field}' is possibly 'null'`);
});

test.each(['codegen', 'tada'] as const)(
  'the types of %s, whose clients do not throw, need a check for null at a field that may have failed',
  async (name) => {
    const folder = frontEnd(name, packageOf(name));
    expect(await run(folder, frontEnds[name])).toMatchObject({ code: 0 });
    const page = join(folder, 'src/filmPage.ts');
    writeFileSync(page, readFileSync(page, 'utf8').replaceAll('?.[', '[').replaceAll('?.', '.'));
    const { out } = await node(folder, ['node_modules/.bin/tsc', '--noEmit']);
    for (const field of ['genres', 'wishCount', 'casts'])
      expect(out).toContain(`'subject.${field}' is possibly 'null'`);
  },
);

test('documents and schema can be imported by the name of the package', async () => {
  const folder = frontEnd('published', 'catalog-graphql');
  const program = `
    import { readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    import { BookDocument, introspection } from 'catalog-graphql/operations';
    const schema = createRequire(import.meta.url).resolve('catalog-graphql/schema.graphql');
    console.log(BookDocument.definitions[0].name.value, introspection.__schema.queryType.name, readFileSync(schema, 'utf8'));
  `;
  writeFileSync(join(folder, 'program.mjs'), program);
  const schema = readFileSync(join(root, 'schema.graphql'), 'utf8');
  expect(await node(folder, ['program.mjs'])).toEqual({ code: 0, out: `Book Query ${schema}\n` });
});
