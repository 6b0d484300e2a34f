/** The page at /: its figures, and when it is there. */
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from '../../src/server/server.ts';
import { journey } from '../support/journey.ts';

// The addresses in records are as long as where `npm start` puts the origin: their bytes are counted.
const here = await journey({}, undefined, { publicUrl: 'http://127.0.0.1:4001' });
const figures = JSON.parse(readFileSync('welcome/rest.json', 'utf8')) as Record<
  string,
  { requests: number; bytes: number }
>;
const html = { accept: 'text/html,*/*;q=0.8' };

/** A facade beside this origin, as `npm start` has it. */
async function facade(env: NodeJS.ProcessEnv, config: object = { ownOrigin: true }) {
  const upstreams = { BASE_URL: here.origin.url, EVENT_BASE_URL: here.origin.url };
  const settings = { ...readConfig({ PORT: '0', ...upstreams, ...env }), ...config };
  const parts = { schema, upstream: here.upstream, log: pino({ level: 'silent' }), welcome: 'welcome' };
  const server = await openServer(settings, parts);
  afterAll(() => server.close());
  return server.url;
}

test.each(Object.keys(figures))('the page says what its %s costs without the graph', async (name) => {
  const query = readFileSync(`welcome/${name}.graphql`, 'utf8');
  const { answer, passed } = await here.cost(query, { token: 'demo-alice' });
  expect(answer.errors).toBeUndefined();
  const whole = passed.map(({ line }) => line.replace('GET ', '').replace(/([?&])fields=[^&]*&?/, '$1'));
  const answers = await Promise.all(whole.map((path) => here.origin.get(path, 'alice')));
  expect(answers.map(({ status }) => status)).toEqual(whole.map(() => 200));
  const bytes = answers.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  expect(figures[name]!.requests).toBe(whole.length);
  // Dates of events are near the day of the test.
  expect(Math.abs(figures[name]!.bytes - bytes) / bytes).toBeLessThan(0.01);
});

test('a browser gets the page, whole or compressed, and only once', async () => {
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

test('other clients are told where the graph is, and in production there is no page', async () => {
  expect((await fetch(await facade({}))).status).toBe(404);
  expect((await fetch(await facade({ NODE_ENV: 'production' }), { headers: html })).status).toBe(404);
});

test('over another service, or without demo tokens, the page has links and shows no token', async () => {
  for (const url of [await facade({}, { ownOrigin: false }), await facade({ DEMO_TOKENS: 'off' })]) {
    const text = await (await fetch(url, { headers: html })).text();
    expect(text).toContain('href="/graphql"');
    expect(text).not.toMatch(/demo-alice|query BookPage/);
  }
});
