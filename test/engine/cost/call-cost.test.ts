import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

interface Planned {
  upstream: { min: number; max: number; fields: { path: string; max: number }[] };
  answer: { items: { max: number }; values: { max: number } };
}

const example = /<!-- cost -->([^]*)<!-- \/cost -->/.exec(readFileSync('docs/architecture.md', 'utf8'))?.[1] ?? '';
const query = /```graphql\n([^]*?)```/.exec(example)?.[1] ?? '';
const numbersIn = (pattern: RegExp) => pattern.exec(example)?.slice(1).map(Number);

test('the example of the cost of a query in docs/architecture.md has the numbers that the facade computes', async () => {
  const { execute } = facade();
  const { upstream, answer } = (await execute(query, { explain: 'plan' })).extensions as unknown as Planned;
  const named = [...example.matchAll(/^- `([\w.]+)`: (\d+) call/gm)].map(([, path, max]) => ({
    path,
    max: Number(max),
  }));
  expect(named).toEqual(upstream.fields.map(({ path, max }) => ({ path, max })));
  expect(numbersIn(/sum is (\d+) calls.* fewest is (\d+)/)).toEqual([upstream.max, upstream.min]);
  expect(numbersIn(/at most (\d+) items .* and (\d+) values/)).toEqual([answer.items.max, answer.values.max]);
});
