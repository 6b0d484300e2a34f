import { readFileSync } from 'node:fs';
import { createYoga } from 'graphql-yoga';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { catalogPlugin, createFacade } from '../../src/facade.ts';
import { bodyOf, embedded, post, settingsFor } from '../support/embedded.ts';
import { service } from '../support/service.ts';

const { url } = await service();

/** What stands between two lines of this file, as the page of the documentation has it. */
function shown(name: string): string {
  const [, indent, code] = new RegExp(`\\n( *)// <${name}>\\n([^]*?)\\n *// </${name}>`).exec(
    readFileSync('test/embedding/examples.test.ts', 'utf8'),
  )!;
  return code!.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

test.each(['execute', 'yoga', 'hooks'])('docs/embedding.md shows the example %s as it is run here', async (name) => {
  const page = 'docs/embedding.md';
  const options = { ...(await resolveConfig(page)), parser: 'typescript' };
  expect(readFileSync(page, 'utf8')).toContain(await format(shown(name), options));
});

test('an operation without HTTP', async () => {
  const facade = embedded(url);
  // <execute>
  const { data, errors } = await facade.execute({
    query: 'query Book($id: ID!) { book(id: $id) { title } }',
    variables: { id: '6082808' },
    token: 'demo-alice', // the caller's own; without it, what is public
  });
  // </execute>
  expect(errors).toBeUndefined();
  expect(data).toEqual({ book: { title: expect.any(String) as string } });
});

test('a Yoga server of the program', async () => {
  const facade = embedded(url);
  const tokens = new Map([['a session', 'demo-alice']]);
  // <yoga>
  const yoga = createYoga({
    plugins: [
      catalogPlugin(facade, {
        token: ({ request }) => tokens.get((request as Request).headers.get('x-session') ?? ''),
      }),
    ],
  });
  // </yoga>
  const ask = async (headers: object) =>
    bodyOf(await yoga.fetch('http://host.example/graphql', post('{ viewer { isLoggedIn } }', headers)));
  expect(await ask({ 'x-session': 'a session' })).toEqual({ data: { viewer: { isLoggedIn: true } } });
  expect(await ask({ authorization: 'Bearer of-the-program' })).toEqual({ data: { viewer: { isLoggedIn: false } } });
});

test('hooks of the program', async () => {
  const settings = settingsFor(url);
  const journal: object[] = [];
  // <hooks>
  const facade = createFacade({
    ...settings,
    authorize: ({ name, fields, price, headers }) => {
      if (headers['x-plan'] === 'paid') return true;
      if (fields.includes('Subject.photos')) return 'Photos are part of the paid plan.';
      return (price?.likely ?? 0) <= 10 || `${name ?? 'This query'} makes more than 10 calls.`;
    },
    onOperation: ({ name, calls, price, errors }) =>
      journal.push({ name, made: calls.length, most: price?.most, errors }),
    headersTo: (service) => ({ 'x-gateway-key': `key of ${service}` }),
  });
  // </hooks>
  const photos = 'query Photos { top250(first: 1) { nodes { ... on Subject { photos(first: 1) { totalCount } } } } }';
  expect((await facade.execute({ query: photos })).errors).toMatchObject([
    { message: 'Photos are part of the paid plan.' },
  ]);
  expect((await facade.execute({ query: photos, headers: { 'x-plan': 'paid' } })).errors).toBeUndefined();
  const dear = `query Dear { ${Array.from({ length: 11 }, (_, at) => `b${at}: book(id: "${at + 1}") { title }`).join(' ')} }`;
  expect((await facade.execute({ query: dear })).errors).toMatchObject([{ message: 'Dear makes more than 10 calls.' }]);
  expect(journal).toMatchObject([
    { name: 'Photos', made: 0, errors: ['OPERATION_FORBIDDEN'] },
    { name: 'Photos', errors: [] },
    { name: 'Dear', errors: ['OPERATION_FORBIDDEN'] },
  ]);
  await facade.close();
});
