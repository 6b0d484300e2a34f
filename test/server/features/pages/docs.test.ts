/** The documentation at /docs. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { basename } from 'node:path';
import { parse, validate } from 'graphql';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../../../src/config/read.ts';
import { schema } from '../../../../src/graph/schema.ts';
import { made } from '../../../support/made.ts';
import { openServer } from '../../../support/open-server.ts';
import { journey } from '../../../support/journey.ts';
import { afterUse } from '../../../support/hooks.ts';

const setup = await journey();

async function facade(env: NodeJS.ProcessEnv = {}, docs?: string) {
  const upstreams = { BASE_URL: setup.origin.url, EVENT_BASE_URL: setup.origin.url };
  const parts = {
    schema,
    upstream: setup.upstream,
    log: pino({ level: 'silent' }),
    graphiql: await made('graphiql'),
    docs: docs ?? (await made('docs')),
  };
  const server = await openServer(readConfig({ PORT: '0', ...upstreams, ...env }), parts);
  afterUse(() => server.close());
  return server.url;
}

const url = await facade();
const get = async (path: string, base = url) => (await fetch(base + path)).text();
const linksOf = (html: string) => [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link]) => link!);
const main = (html: string) => /<main>([^]*)<\/main>/.exec(html)?.[1] ?? '';

test('the index lists every page, and every link of every page leads to a page and a heading that exist', async () => {
  const paths = new Set(linksOf(main(await get('/docs'))));
  for (const path of ['/docs/readme', '/docs/settings', '/docs/errors', '/docs/security'])
    expect(paths).toContain(path);
  const pages = new Map<string, string>();
  const page = async (path: string) => {
    if (!pages.has(path)) pages.set(path, await get(path));
    return pages.get(path)!;
  };
  const broken: string[] = [];
  for (const path of paths) {
    const html = await page(path);
    if (!path.startsWith('/docs')) continue;
    expect(html).toMatch(/<title>[^<]+ · catalog-graphql<\/title>/);
    for (const link of linksOf(html).filter((each) => !/^(?:https?|data):|^\/$/.test(each))) {
      const [target = '', anchor] = (link.startsWith('#') ? path + link : link).split('#');
      const { status } = await fetch(url + target, { headers: { accept: 'text/html' } });
      const isThere = anchor === undefined || (await page(target)).includes(` id="${anchor}"`);
      if (status !== 200 || !isThere) broken.push(`${path}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

test('the start page begins with the four doors, each of which leads to a page with first steps', async () => {
  const html = main(await get('/docs'));
  const doors = [...html.split('<h2')[0]!.matchAll(/<a href="([^"]*)">(.*?)<\/a>/g)].map(([, path, name]) => [
    path,
    name,
  ]);
  expect(doors).toEqual([
    ['/docs/front-ends', 'Build a web app'],
    ['/docs/mobile', 'Build a mobile app'],
    ['/docs/operations', 'Run it'],
    ['/docs/embedding', 'Put it into your server'],
  ]);
  for (const [path] of doors) expect(await get(path!)).toContain('aria-current="page">First steps');
});

test('a page has its text, a way back, and no file of the repository behind a link', async () => {
  const html = await get('/docs/architecture');
  expect(html).toContain('<h2 id="dependencies"><a href="#dependencies">Dependencies</a></h2>');
  expect(html).toContain('<a href="/graphql">GraphiQL</a>');
  expect(linksOf(html)).toContain('/');
  expect(html).toContain('aria-current="page">Architecture');
  expect(html).toMatch(/aria-label="On this page">.*<a href="#dependencies">Dependencies<\/a>/s);
  expect(html).toMatch(/<a rel="prev" href="\/docs\/contributing">.*<a rel="next" href="\/docs\/tasks">/s);
  expect(html).not.toMatch(/href="[^"]*(?:src\/|\.\.)/);
});

test('the apps of examples/ have the mark of the pages as their icon', async () => {
  const [mark] = /<svg.*<\/svg>/.exec(await get('/docs'))!;
  for (const app of ['react-relay', 'offline-apollo'])
    expect(readFileSync(`examples/${app}/public/icon.svg`, 'utf8').trim()).toBe(mark);
});

test('the page of errors has the pages before and after it, and those lead back to it', async () => {
  const [before, after] = linksOf(/<nav class="turn".*<\/nav>/s.exec(await get('/docs/errors'))![0]);
  for (const path of [before, after])
    expect(linksOf(/<nav class="turn".*<\/nav>/s.exec(await get(path!))![0])).toContain('/docs/errors');
});

test('code of each language is coloured, and its text is that of the page', async () => {
  const pages = ['readme', 'front-ends', 'operations', 'mobile', 'redis'];
  const html = (await Promise.all(pages.map((page) => get(`/docs/${page}`)))).join('\n');
  const blocks = [...html.matchAll(/<pre><code>([^]*?)<\/code><\/pre>/g)].map(([, block]) => block!);
  expect(blocks.length).toBeGreaterThan(15);
  // A command alone has no colours.
  const plain = blocks.filter((block) => !block.includes('<span class="hljs-'));
  expect(plain.filter((block) => block.includes('{'))).toEqual([]);
  const texts = blocks.map((block) => block.replaceAll(/<[^<>]*>/g, ''));
  expect(texts).toContainEqual(expect.stringContaining("import { useQuery } from '@apollo/client/react';"));
});

test('each example of an operation has a link that opens it in GraphiQL, and none without GraphiQL', async () => {
  const without = await facade({ GRAPHIQL: 'off' });
  const examples = new Map<string, string[]>();
  const files = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)];
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    const blocks = [...readFileSync(file, 'utf8').matchAll(/^```graphql\n([^]*?)\n```/gm)].map(([, text]) => text!);
    if (blocks.length > 0) examples.set(`/docs/${basename(file, '.md').toLowerCase()}`, blocks);
  }
  expect([...examples.keys()]).toContain('/docs/readme');
  for (const [path, blocks] of examples) {
    const links = linksOf(await get(path)).filter((link) => link.startsWith('/graphql?'));
    const opened = links.map((link) => new URL(link, url).searchParams.get('query')!);
    expect(opened).toEqual(blocks);
    for (const text of opened) expect(validate(schema, parse(text))).toEqual([]);
    expect(linksOf(await get(path, without)).filter((link) => link.startsWith('/graphql?'))).toEqual([]);
  }
});

describe('the search', () => {
  const search = async (query: string) => main(await get(`/docs?q=${encodeURIComponent(query)}`));

  test('finds the sections that have all words, in pages and in the codes of errors', async () => {
    expect(linksOf(await search('REDIS_URL replicas share'))).toContain('/docs/settings#the-ten-that-matter-first');
    expect(linksOf(await search('rate_limited'))[0]).toBe('/docs/errors#RATE_LIMITED');
    expect(await search('redis xyzzy')).toContain('Nothing has all of these words.');
  });

  test.each([
    ['pagination', '/docs/queries#lists-and-pagination'],
    ['patch', '/docs/writes#partial-updates-a-patch-keeps-the-rest'],
    ['partial update', '/docs/writes#partial-updates-a-patch-keeps-the-rest'],
    ['conflict', '/docs/writes#conflicts-two-devices-change-one-record'],
    ['codegen', '/docs/front-ends#types-and-codegen'],
    ['over-fetching', '/docs/readme#catalog-graphql'],
    ['delta sync', '/docs/mobile#delta-sync-a-shelf-on-the-phone'],
    ['docker', '/docs/operations#docker-and-kubernetes'],
    ['systemd', '/docs/operations#several-instances'],
    ['offline', '/docs/offline#offline-writes-that-are-made-once'],
    ['rate limit', '/docs/queries#cost-and-the-rate-limit'],
  ])('finds %s first where it is explained: %s', async (words, place) => {
    expect(linksOf(await search(words))[0]).toBe(place);
  });

  test.each([
    ['markup', '<img src=x onerror=alert(1)>', '&lt;img'],
    ['a quote', '"><script>', '&quot;&gt;&lt;script&gt;'],
    ['control characters and lone surrogates', '\0\u0007redis\ud800', 'redis'],
    ['many words', 'a '.repeat(1_000), 'Sections with'],
    ['only spaces', '   ', '<h1>Documentation</h1>'],
  ])('with %s is answered and adds nothing to the page', async (_, query, shown) => {
    const response = await fetch(`${url}/docs?q=${encodeURIComponent(query.toWellFormed?.() ?? query)}`);
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(html).toContain(shown);
    expect(html).not.toMatch(/<img src=x|<script>(?!\/\/ A button)/);
  });

  test('changes the case of no page again', async () => {
    await search('cache');
    const toLowerCase = vi.spyOn(String.prototype, 'toLowerCase');
    try {
      await search('a the of is cache to in an or it on by');
      const changed = toLowerCase.mock.contexts.map(String).filter((text) => text.length > 200);
      expect(changed).toEqual([]);
    } finally {
      toLowerCase.mockRestore();
    }
  });

  test.each([
    'http://[bad/docs',
    'http://x:99999999/docs',
    'HTTP://x y/docs',
    'http://[bad/docs?q=redis',
    '/docs?q=redis?&q=x',
  ])('an address whose host is malformed is that of its path: %s', async (path) => {
    const { host, port } = { host: '127.0.0.1', port: new URL(url).port };
    const sent = request({ host, port, path: path.replace(' ', '%20') }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  test('with broken escapes is answered too', async () => {
    for (const query of ['%', '%ff', '%00', '&q=', '%ED%A0%80'])
      expect((await fetch(`${url}/docs?q=${query}`)).status).toBe(200);
  });
});

test('pages run one script of their own and load nothing from elsewhere, and clients ask whether they have changed', async () => {
  for (const path of ['/docs', '/docs/settings', '/docs/errors']) {
    const response = await fetch(url + path);
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toContain("form-action 'none'");
    const [script, ...others] = [...(await response.text()).matchAll(/<script>([^]*?)<\/script>/g)];
    const digest = createHash('sha256').update(script![1]!).digest('base64');
    expect(policy).toContain(`script-src 'sha256-${digest}';`);
    expect(others).toEqual([]);
    const again = await fetch(url + path, { headers: { 'if-none-match': response.headers.get('etag')! } });
    expect(again.status).toBe(304);
    expect((await fetch(url + path, { method: 'POST' })).status).toBe(405);
  }
  expect((await fetch(`${url}/docs/graphiql.png`)).headers.get('content-type')).toBe('image/png');
});

test('in production, or without the folder, there is only the page of errors, without a menu', async () => {
  for (const other of [await facade({ NODE_ENV: 'production' }), await facade({}, 'dist/absent')]) {
    expect((await fetch(`${other}/docs`)).status).toBe(404);
    expect((await fetch(`${other}/docs/settings`)).status).toBe(404);
    const errors = await get('/docs/errors', other);
    expect(errors).toContain('id="RATE_LIMITED"');
    expect(linksOf(errors).filter((link) => link.startsWith('/'))).toEqual([]);
  }
});
