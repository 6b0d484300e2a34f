import { expect, test } from 'vitest';
import { price } from '../../src/price.ts';
import { embedded } from '../support/embedded.ts';

test('a facade tells the price that price() tells for its settings, without a call', async () => {
  const settings = { maxDepth: 3 };
  const facade = embedded('http://127.0.0.1:9', settings);
  const documents: [document: string, variables?: object, operationName?: string][] = [
    ['query Q($n: Int) { searchBooks(query: "a", first: $n) { nodes { title } } }'],
    ['query Q($n: Int) { searchBooks(query: "a", first: $n) { nodes { title } } }', { n: 7 }],
    ['query Q($n: Int) { searchBooks(query: "a", first: $n) { nodes { title } } }', { n: 'seven' }],
    ['query A { book(id: "1") { title } } query B { top250(first: 3) { nodes { summary } } }', {}, 'B'],
    ['{ searchBooks(query: "a") { nodes { series { title } } } }'],
    ['{ book(id: "1") { nothing } }'],
    ['{'],
  ];
  for (const [document, variables, name] of documents) {
    const told = facade.price(document, variables as never, name);
    expect(told, document).toEqual(price(document, variables as never, settings, name));
    expect(told.cost === null, document).toBe(told.errors.length > 0);
  }
  const { data, extensions } = await facade.execute({ query: '{ book(id: "1") { title } }', explain: 'plan' });
  expect(data).toBeNull();
  const { likely, most } = facade.price('{ book(id: "1") { title } }').cost!.calls;
  expect(extensions).toMatchObject({ upstream: { likely, max: most } });
});
