import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { made } from './support/made.ts';
import { startNginx } from './support/nginx.ts';
import { hasProgram } from './support/optional.ts';
import { type Program, startProgram } from './support/program.ts';

interface Service {
  environment: Record<string, string>;
  command?: string[];
}

const dockerfile = readFileSync('Dockerfile', 'utf8').replaceAll(/\\\n/g, ' ');
const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
const final = stages.at(-1)!;
const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
};
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'dependencies' | 'optionalDependencies',
  Record<string, string>
> & { files: string[] };

/** COPY instructions: sources, the stage or build context they come from, and the target. */
const copies = (stage: string) =>
  [...stage.matchAll(/^COPY (?:--from=(\w+) )?(.+) (\S+)$/gm)].map(([, from, sources, target]) => ({
    from,
    sources: sources!.split(' '),
    target: target!,
  }));

/** The build context: `.dockerignore` excludes everything and lists the exceptions. */
const context = new Set(
  readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : [])),
);

const image = mkdtempSync(join(tmpdir(), 'catalog-image-'));
const main = join(image, 'dist/main.js');
afterAll(() => rmSync(image, { recursive: true, force: true }));

beforeAll(async () => {
  await Promise.all([made('program'), made('operations')]);
  for (const { from, sources, target } of copies(final)) {
    if (from === 'dependencies') {
      // The Node that runs the tests may be older than that of the image, and need the package for SQLite.
      for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
        const place = join(image, 'node_modules', name);
        mkdirSync(dirname(place), { recursive: true });
        symlinkSync(resolve('node_modules', name), place);
      }
    } else if (from === 'build') cpSync('dist', join(image, target), { recursive: true });
    else
      for (const source of sources)
        cpSync(source, join(image, target, target === './' ? source : ''), { recursive: true });
  }
});

test('the build context contains exactly the files that the stages copy', () => {
  const copied = stages.flatMap((stage) => copies(stage).flatMap(({ from, sources }) => (from ? [] : sources)));
  expect([...context].toSorted()).toEqual([...new Set(copied)].toSorted());
  for (const file of copied) expect(existsSync(file), file).toBe(true);
});

test('the image contains the folders of the package that the program reads in production', () => {
  // The documentation is shown outside production only.
  const folders = manifest.files.filter((file) => !/[.*]|^(dist\/)?docs$/.test(file));
  expect(folders.length).toBeGreaterThan(2);
  for (const folder of folders) expect(existsSync(join(image, folder)), folder).toBe(true);
});

/** Starts a service of compose.yaml from the image; `hosts` maps the names of other services to their addresses. */
function startService(name: string, hosts: Record<string, string>, more: NodeJS.ProcessEnv = {}): Promise<Program> {
  const { environment, command = [] } = services[name]!;
  const set = Object.entries(environment).map(([variable, value]) => {
    const byDefault = value.replace(/^\$\{\w+:-(.*)\}$/, '$1');
    return [variable, hosts[byDefault] ?? byDefault] as const;
  });
  const env = { NODE_ENV: 'production', ...Object.fromEntries(set), PORT: '0', ORIGIN_PORT: '0', ...more };
  return startProgram(env, command, { main, cwd: image });
}

/** Both facades, each with an origin of its own, so that the rate limit of one origin has no effect. */
async function composed(more?: NodeJS.ProcessEnv): Promise<Program[]> {
  const facades: Program[] = [];
  for (const name of ['facade-1', 'facade-2']) {
    const origin = await startService('origin', {});
    facades.push(await startService(name, { 'http://origin:4001': origin.origin }, { REDIS_URL: undefined, ...more }));
  }
  return facades;
}

test('the image starts as every service of compose.yaml, responds, and is healthy', async () => {
  const [first, second] = await composed();
  for (const { url } of [first!, second!]) {
    const response = await fetch(`${url}/graphql?query={book(id:"6082808"){title}}`);
    expect(await response.json()).toEqual({ data: { book: { title: '百年孤独' } } });
    const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
    expect([page.status, (await page.text()).length > 1_000]).toEqual([200, true]);
    const health = /^HEALTHCHECK .*? CMD (\[.*\])$/m.exec(final)![1]!;
    const [program, ...args] = JSON.parse(health) as string[];
    expect(program).toBe('node');
    const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: new URL(url).port };
    await promisify(execFile)(process.execPath, args, { env, cwd: image });
  }
  expect(await first!.stop()).toMatchObject({ code: 0, err: '' });
});

test.skipIf(!hasProgram('nginx'))('nginx balances both facades, and they see the address of the client', async () => {
  const facades = await composed({ TRUSTED_PROXIES: '127.0.0.1', ACCESS_TOKEN: undefined, FILM_TIER: undefined });
  const url = await startNginx([facades[0]!.url, facades[1]!.url]);
  const port = Number(new URL(url).port);
  expect(await query('{ book(id: "6082808") { title } }', '127.0.0.2')).toEqual({
    data: { book: { title: '百年孤独' } },
  });
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  const page = await (await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } })).text();
  const [, file] = /src="(graphql\/assets\/graphiql-\w+\.js)"/.exec(page)!;
  for (const path of [file!, 'graphql/schema.graphql', 'docs/errors']) {
    expect([path, (await fetch(`${url}/${path}`)).status]).toEqual([path, 200]);
  }
  // What a facade has compressed is passed on.
  const long = encodeURIComponent('{ book(id: "6082808") { title summary authorIntro tags { name count } } }');
  const compressed = await fetch(`${url}/graphql?query=${long}`, { headers: { 'accept-encoding': 'gzip, br' } });
  expect(compressed.headers.get('content-encoding')).toBe('br');
  expect(compressed.headers.get('vary')).toContain('Accept-Encoding');
  expect(await compressed.json()).toMatchObject({ data: { book: { title: '百年孤独' } } });
  // One address gets half of the calls of a facade, 20 of each; the rest is left for other addresses.
  const search = async (n: number, from: string) =>
    (await query(`{ searchSubjects(query: "behind ${n}") { nodes { title } } }`, from)).errors === undefined;
  const first: boolean[] = [];
  for (let n = 0; n < 60; n++) first.push(await search(n, '127.0.0.2'));
  expect(first.filter(Boolean)).toHaveLength(40);
  expect([await search(60, '127.0.0.3'), await search(61, '127.0.0.3')]).toEqual([true, true]);
  for (const facade of facades) expect(await facade.stop()).toMatchObject({ code: 0, err: '' });

  function query(text: string, from: string) {
    return queryFrom(from, port, text);
  }
});

/** Sends a query from another local address than that of the proxy. */
function queryFrom(localAddress: string, port: number, query: string): Promise<{ data: unknown; errors?: unknown[] }> {
  return new Promise((resolve, reject) => {
    const path = `/graphql?query=${encodeURIComponent(query)}`;
    request({ host: '127.0.0.1', port, localAddress, path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve(JSON.parse(text) as { data: unknown; errors?: unknown[] }));
    })
      .once('error', reject)
      .end();
  });
}
