import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { corsHeaders } from '../../../../src/server/http/request/headers.ts';

const origin = 'https://app.example';
const [, , , list] = corsHeaders(origin, [origin]);
const exposed = list!.split(', ');

/** What pages can always read, and what is of no use to them: connections, caches between, pages and agents. */
const others =
  /^(?:content-.*|cache-control|vary|allow|connection|keep-alive|transfer-encoding|date|location|x-content-type-options|x-frame-options|referrer-policy|cross-origin-.*|strict-transport-security|access-control-.*|www-authenticate|mcp-.*|accept-ranges|last-modified|expires|deprecation|sunset|link)$/;

/** The names that the server gives headers of responses: the first of a pair of literals, and the members of `headers`. */
const written = new Set(
  readdirSync('src/server', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const source = readFileSync(join('src/server', file), 'utf8');
      const pairs = source.matchAll(
        /(?:headers\.push\(|STORED_COST = \[|return \[|\? \[|stored: \[)\s*'([a-z][a-z-]+)',/g,
      );
      const members = source.matchAll(/headers: \{ '?([a-z][a-z-]+)'?: (?!\[)/g);
      return [...pairs, ...members].map(([, name]) => name!);
    }),
);

test('pages of other origins can read every header of a response that says something to them', () => {
  expect([...written].filter((name) => !others.test(name) && !exposed.includes(name))).toEqual([]);
  expect([...written]).toEqual(expect.arrayContaining(['catalog-cost', 'ratelimit', 'retry-after']));
});

/** Sent by Node. */
const ofNode = ['date'];

test('no header is exposed that nothing sends', () => {
  const sources = readdirSync('src/server', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('request/headers.ts'))
    .map((file) => readFileSync(join('src/server', file), 'utf8').toLowerCase());
  expect(
    exposed.filter(
      (name) =>
        !ofNode.includes(name) &&
        !sources.some((source) => source.includes(`'${name}'`) || source.includes(`${name}:`)),
    ),
  ).toEqual([]);
});
