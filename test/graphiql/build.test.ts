/** The files of the GraphiQL page, as the build makes them. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import * as published from '@graphql-yoga/render-graphiql/graphiql';
import { expect, test } from 'vitest';
import { brotliDecompressSync } from 'node:zlib';
import { made } from '../support/made.ts';

const folder = await made('graphiql');

test('the bundle of GraphiQL is served as it is published', () => {
  const { 'graphiql.js': script, 'graphiql.css': style } = JSON.parse(
    readFileSync(`${folder}/files.json`, 'utf8'),
  ) as Record<string, string>;
  const textOf = (name = '') => brotliDecompressSync(readFileSync(`${folder}/${name}.br`)).toString();
  expect(textOf(script) === published.js).toBe(true);
  expect(textOf(style) === published.css).toBe(true);
});

test('the page loads at most 2.5 MB', () => {
  const files = readdirSync(folder).filter((name) => name !== 'files.json');
  expect(files).toHaveLength(7);
  expect(files.reduce((sum, name) => sum + statSync(`${folder}/${name}`).size, 0)).toBeLessThan(2_500_000);
});
