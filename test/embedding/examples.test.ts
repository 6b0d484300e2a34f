import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { embedded } from '../support/embedded.ts';
import { service } from '../support/service.ts';

const { url } = await service();

/** What stands between two lines of this file, as the page of the documentation has it. */
function shown(name: string): string {
  const [, indent, code] = new RegExp(`\\n( *)// <${name}>\\n([^]*?)\\n *// </${name}>`).exec(
    readFileSync('test/embedding/examples.test.ts', 'utf8'),
  )!;
  return code!.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

test.each(['execute'])('docs/embedding.md shows the example %s as it is run here', (name) => {
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
