import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as offered from '../../src/extend.ts';
import { compileProblems } from '../support/examples.ts';

test('the declared types accept the extension that this test runs, and name what the package exports', () => {
  const examples = ['shelf', 'shop'].map((name) =>
    readFileSync(`test/extension/${name}.ts`, 'utf8').replace('../../src/extend.ts', 'catalog-graphql/extend'),
  );
  expect(compileProblems('.', examples)).toEqual([]);
  const declared = [...readFileSync('extend.d.ts', 'utf8').matchAll(/^export (?:const|function) (\w+)/gm)];
  expect(declared.map(([, name]) => name).sort()).toEqual(Object.keys(offered).sort());
});

test('the declared types reject what cannot be', () => {
  const wrong = (code: string) =>
    compileProblems('.', [`import { Book, text, type Extend } from 'catalog-graphql/extend';\n${code}`]);
  const field = (text: string) =>
    `export const extend: Extend = (builder) => builder.objectField(Book, 'a', (t) => ${text});`;
  expect(wrong(field(`t.reads('title', text, 'A title.')`))).toEqual([]);
  expect(wrong(field(`t.reads('titel', text, 'A title.')`))).toHaveLength(1);
  expect(wrong(field(`t.field({ type: 'Int', description: 'One.', resolve: () => 1 })`))).toHaveLength(1);
});
