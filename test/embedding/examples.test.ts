import { readFileSync } from 'node:fs';
import { createYoga } from 'graphql-yoga';
import { expect, test } from 'vitest';
import { catalogPlugin } from '../../src/facade.ts';
import { bodyOf, embedded, post } from '../support/embedded.ts';
import { service } from '../support/service.ts';

const { url } = await service();

/** What stands between two lines of this file, as the page of the documentation has it. */
function shown(name: string): string {
  const [, indent, code] = new RegExp(`\\n( *)// <${name}>\\n([^]*?)\\n *// </${name}>`).exec(
    readFileSync('test/embedding/examples.test.ts', 'utf8'),
  )!;
  return code!.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

test.each(['execute', 'yoga'])('docs/embedding.md shows the example %s as it is run here', (name) => {
  expect(readFileSync('docs/embedding.md', 'utf8')).toContain(shown(name));
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
