import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
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

test('the example at the head of call-cost.ts is the same', async () => {
  const path = readdirSync('src', { recursive: true, encoding: 'utf8' }).find((file) => file.endsWith('call-cost.ts'))!;
  const comment = readFileSync(join('src', path), 'utf8')
    .split('*/')[0]!
    .replaceAll(/^ \* ?/gm, '');
  const lines = comment.split('\n').filter((line) => line.startsWith('    '));
  expect(lines).toHaveLength(8);
  const written = `{ ${lines.map((line) => line.trim().replace(/ {2,}\d.*/, '')).join(' ')} }`;
  const calls = lines.flatMap((line) => /(\d+) calls?\b/.exec(line)?.[1] ?? []).map(Number);
  const { execute } = facade();
  const { upstream, answer } = (await execute(written, { explain: 'plan' })).extensions as unknown as Planned;
  expect(calls).toEqual(upstream.fields.map(({ max }) => max));
  const sums = /at most (\d+) calls, (\d+) items and (\d+) values/.exec(comment)?.slice(1).map(Number);
  expect(sums).toEqual([upstream.max, answer.items.max, answer.values.max]);
});
