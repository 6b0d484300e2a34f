/** The page at /: its figures, and when it is served. */
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { made } from '../support/made.ts';
import { openServer } from '../support/open-server.ts';
import { journey } from '../support/journey.ts';
import { afterUse } from '../support/hooks.ts';

// The origin's URL is as long as that of `npm start`, because URLs in records count as bytes.
const setup = await journey({}, undefined, { publicUrl: 'http://127.0.0.1:4001' });
const figures = JSON.parse(readFileSync('welcome/rest.json', 'utf8')) as Record<
  string,
  { requests: number; bytes: number }
>;
const html = { accept: 'text/html,*/*;q=0.8' };

/** A facade with the demo origin, as `npm start` starts it. */
async function facade(env: NodeJS.ProcessEnv, config: object = { ownOrigin: true }) {
  const upstreams = { BASE_URL: setup.origin.url, EVENT_BASE_URL: setup.origin.url };
  const settings = { ...readConfig({ PORT: '0', ...upstreams, ...env }), ...config };
  const folders = { welcome: 'welcome', docs: await made('docs'), graphiql: await made('graphiql') };
  const parts = { schema, upstream: setup.upstream, log: pino({ level: 'silent' }), ...folders };
  const server = await openServer(settings, parts);
  afterUse(() => server.close());
  return server.url;
}

test.each(Object.keys(figures))('the page shows what its %s costs without the graph', async (name) => {
  const query = readFileSync(`welcome/${name}.graphql`, 'utf8');
  const { response, passed } = await setup.cost(query, { token: 'demo-alice' });
  expect(response.errors).toBeUndefined();
  const paths = passed.map(({ line }) => line.replace('GET ', '').replace(/([?&])fields=[^&]*&?/, '$1'));
  const responses = await Promise.all(paths.map((path) => setup.origin.get(path, 'alice')));
  expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 200));
  const bytes = responses.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  expect(figures[name]!.requests).toBe(paths.length);
  // Dates of events depend on the day of the test.
  expect(Math.abs(figures[name]!.bytes - bytes) / bytes).toBeLessThan(0.01);
});

test('a browser gets the page, plain or compressed, with an ETag', async () => {
  const url = await facade({});
  const page = await fetch(url, { headers: { ...html, 'accept-encoding': 'br' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-encoding')).toBe('br');
  const text = await page.text();
  expect(text).toContain('query BookPage');
  expect(text).toContain('demo-alice');
  const plain = await fetch(url, { headers: { ...html, 'accept-encoding': 'br;q=0, gzip;q=0' } });
  expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, text]);
  const again = await fetch(url, { headers: { ...html, 'if-none-match': page.headers.get('etag')! } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const head = await fetch(url, { method: 'HEAD', headers: html });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await fetch(url, { method: 'POST', headers: html })).status).toBe(405);
});

test('other clients get 404, and so do all in production', async () => {
  expect((await fetch(await facade({}))).status).toBe(404);
  expect((await fetch(await facade({ NODE_ENV: 'production' }), { headers: html })).status).toBe(404);
});

test('with another service, or without the demo, the page has links and shows no token', async () => {
  for (const url of [await facade({}, { ownOrigin: false }), await facade({ DEMO: 'off' })]) {
    const text = await (await fetch(url, { headers: html })).text();
    expect(text).toContain('href="/graphql"');
    expect(text).not.toMatch(/demo-alice|query BookPage|Each page below|<script/);
  }
});

test('over another service the page links to what is there', async () => {
  const url = await facade({ ACCESS_TOKEN: 'secret-token-of-the-facade' }, { ownOrigin: false });
  const text = await (await fetch(url, { headers: html })).text();
  expect(text).not.toContain('secret-token-of-the-facade');
  const links = [...text.matchAll(/href="(\/[^"]*)"/g)].map(([, link]) => link!);
  for (const path of ['/graphql', '/docs', '/graphql/schema.graphql', '/docs/errors']) expect(links).toContain(path);
  for (const link of links) expect([link, (await fetch(url + link, { headers: html })).status]).toEqual([link, 200]);
});

test('without GraphiQL, docs and introspection the page links to none of them', async () => {
  const env = { GRAPHIQL: 'off', INTROSPECTION: 'off' };
  const text = await (await fetch(await facade(env, { ownOrigin: false }), { headers: html })).text();
  expect(text).not.toMatch(/href="\/graphql/);
  expect(text).toContain('href="/docs/errors"');
});
