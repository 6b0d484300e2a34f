/** The price in the client package, as it is built: the same as that of the server, in a file of its own. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { price as clientPrice } from '../../client/src/price.ts';
import { createOperationCheck } from '../../src/check/check-operation.ts';
import { readOptions } from '../../src/config/read.ts';
import { hintText } from '../../src/engine/documents/hints.ts';
import { schema } from '../../src/graph/schema.ts';
import { price } from '../../src/price.ts';
import { parse } from 'graphql';
import { made } from '../support/made.ts';

const built = join(await made('client'), 'price.cjs');
const client = createRequire(import.meta.url)(built) as { price: typeof clientPrice };
const operations = readdirSync('operations').map((file) => readFileSync(join('operations', file), 'utf8'));
const dear = [
  '{ top250(first: 100) { nodes { title directors { works(first: 5) { nodes { subject { summary } } } } } } }',
  'query A($n: Int) { searchSubjects(query: "a", first: $n) { nodes { title summary reviews(first: 5) { nodes { title } } } } }',
  '{ user(id: "alice") { bookCollections(first: 100) { nodes { status book { title pages binding } } } } }',
];

const others = ['{ nothing }', '{', 'mutation { deleteNote(input: { id: 1 }) { deletedId } }'];

test('it is the price of the server, with its errors, for every published operation and others', () => {
  for (const text of [...operations, ...dear, ...others]) {
    const { errors, calls, mostExpensive, operation } = client.price(text);
    const expected = price(text);
    expect({ operation, calls, mostExpensive }, text).toEqual({
      operation: expected.operation,
      calls: expected.cost?.calls ?? null,
      mostExpensive: expected.mostExpensive?.coordinate ?? null,
    });
    expect(errors, text).toEqual(expected.errors.map(({ code, message }) => ({ code, message })));
  }
});

test('its hints are those of the check', () => {
  const settings = readOptions({ baseUrl: 'http://localhost', eventBaseUrl: 'http://localhost' });
  const check = createOperationCheck(schema, settings, undefined);
  for (const text of dear) {
    const checked = check({ text, document: parse(text), operationName: undefined, locationOf: () => '' } as never);
    expect(checked.hints.length).toBeGreaterThan(0);
    expect(client.price(text).hints.map((hint) => hint.text)).toEqual(
      checked.hints.map((hint) => hintText(hint, settings.maxUpstreamCalls)),
    );
  }
});

test('limits of a server with others are taken', () => {
  expect(client.price(dear[0]!).errors).toHaveLength(1);
  expect(client.price(dear[0]!, undefined, { maxUpstreamCalls: 1_000 }).errors).toEqual([]);
});

test('it has at most 300 kB, imports nothing but graphql and Node, and has no text of documentation', () => {
  expect(statSync(built).size).toBeLessThan(300_000);
  const text = readFileSync(built, 'utf8');
  const imported = new Set([...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name!));
  expect([...imported].filter((name) => !name.startsWith('node:'))).toEqual(['graphql']);
  expect(text).not.toContain('A book by id.');
});
