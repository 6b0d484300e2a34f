/** The files of the GraphiQL page, as the build makes them. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
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
  const files = readdirSync(folder).filter((name) => name.endsWith('.br'));
  expect(files).toHaveLength(7);
  expect(files.reduce((sum, name) => sum + statSync(`${folder}/${name}`).size, 0)).toBeLessThan(2_500_000);
});

const licenses = readFileSync(`${folder}/licenses.txt`, 'utf8');
/** Names and versions, of each block with a text below them. */
const licensed = new Set(
  licenses.split(`\n${'-'.repeat(80)}\n\n`).flatMap((block) => {
    const [names = '', ...text] = block.split('\n\n');
    return text.join('').trim() ? names.split('\n').filter((line) => !line.startsWith(' ')) : [];
  }),
);
const { editorWorkerService, graphqlWorker, jsonWorker } = published;

test('the licenses are those of the installed version of GraphiQL', () => {
  const { version } = createRequire(import.meta.url)('@graphql-yoga/render-graphiql/package.json') as {
    version: string;
  };
  expect(licenses).toMatch(`@graphql-yoga/render-graphiql ${version} bundles`);
  expect(licensed).toContain(`@graphql-yoga/render-graphiql ${version}`);
});

test('each package that a worker of the page names by its path has a license', () => {
  const paths = [editorWorkerService, graphqlWorker, jsonWorker].flatMap((script) => [
    ...script.matchAll(/\/\.pnpm\/[^/]+?@(\d[^/_]*)[^/]*\/node_modules\/((?:@[^/]+\/)?[^/]+)/g),
  ]);
  const named = new Set(paths.map(([, version, name]) => `${name} ${version}`));
  expect([...named]).toContain('prettier 3.6.2');
  expect([...named].filter((each) => !licensed.has(each))).toEqual([]);
});

test('each version that the script of the page has, and each font, has a license', () => {
  const versions = [...published.js.matchAll(/version(?:=|:)"(\d+\.\d+\.\d+)"/g)].map(([, version]) => version!);
  expect(versions).toContain('19.2.0'); // of React
  const fonts = [...published.css.matchAll(/@font-face\{[^}]*?font-family:([\w ]+)/g)].map(([, name]) => name!);
  expect(fonts).toContain('Roboto');
  const lacks = (each: string): boolean => ![...licensed].some((entry) => entry.includes(each));
  expect([...new Set([...versions, ...fonts])].filter(lacks)).toEqual([]);
});

test('each banner of a shipped file names a package with a license', () => {
  const banners = readdirSync(folder)
    .filter((name) => name.endsWith('.br'))
    .flatMap(
      (name) =>
        brotliDecompressSync(readFileSync(`${folder}/${name}`))
          .toString()
          .match(/\/\*!?[^]*?\*\//g) ?? [],
    )
    .filter((comment) => /licen[sc]e|copyright/i.test(comment));
  expect(banners.filter((banner) => !/^monaco-editor\//m.test(banner))).toEqual([]);
});
