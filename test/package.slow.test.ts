import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build as bundleAsync, transform } from 'esbuild';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { entries, flagOf } from '../src/config/settings.ts';
import { hasBuiltIn } from '../src/origin/store/database/sqlite.ts';
import { tsExamplesOf } from './support/examples.ts';
import { listen } from './support/listen.ts';
import { contentOf } from './support/package-content.ts';
import { runProgram, startProgram } from './support/program.ts';
import { service } from './support/service.ts';

const run = promisify(execFile);
const here = resolve('.');
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  files: string[];
  dependencies: object;
  optionalDependencies: object;
};

/** Each test starts npm, a compiler or the program, which takes long on a machine under load. */
const LOADED = 600_000;

/** A folder with the package installed as npm does it, but with links to the dependencies of the repository. */
const elsewhere = mkdtempSync(join(tmpdir(), 'catalog-'));
const installed = join(elsewhere, 'node_modules/catalog-graphql');
const main = join(installed, 'dist/main.js');
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

function link(name: string): string {
  const place = join(elsewhere, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(here, 'node_modules', name), place);
  return place;
}

beforeAll(async () => {
  // Packed from a copy, because packing builds, and other tests run the build of the repository.
  const copy = join(elsewhere, 'copy');
  const sources = ['package.json', 'build.mjs', 'generated', 'graphiql', 'src', 'README.md', 'LICENSE'];
  for (const file of [...sources, ...manifest.files]) {
    if (existsSync(file) && !file.startsWith('dist/')) cpSync(file, join(copy, file), { recursive: true });
  }
  symlinkSync(join(here, 'node_modules'), join(copy, 'node_modules'));
  await run('npm', ['pack', '--offline', '--no-update-notifier', '--pack-destination', elsewhere], { cwd: copy });

  mkdirSync(installed, { recursive: true });
  const tarball = join(elsewhere, `catalog-graphql-${manifest.version}.tgz`);
  await run('tar', ['xzf', tarball, '--strip-components=1', '-C', installed]);
  // Link only the dependencies of package.json, to find missing ones.
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) link(name);
  mkdirSync(join(elsewhere, 'node_modules/.bin'));
  symlinkSync('../catalog-graphql/dist/main.js', join(elsewhere, 'node_modules/.bin/catalog-graphql'));
  chmodSync(main, 0o755);
}, LOADED);

test('the package contains what it needs at run time and its documentation, and nothing else, in at most 20 MB', () => {
  const { files, bytes } = contentOf(installed);
  // Chunks that are loaded on demand lie beside each program, each with its source map.
  const pieces = files.filter((file) => /^dist\/(?:main|facade)-[\w-]+-\w+\.js$/.test(file));
  const programs = ['dist/extend.js', 'dist/facade.js', 'dist/main.js', 'dist/price.js', ...pieces];
  expect(pieces.length).toBeGreaterThan(1);
  const pages = files.filter((file) =>
    /^dist\/(?:docs\/[\w-]+\.(?:html|css|js|png)|graphiql\/[\w-]+\.\w+\.br)$/.test(file),
  );
  const sources = ['demo', 'docs', 'operations', 'welcome'].flatMap((folder) =>
    contentOf(folder).files.map((file) => join(folder, file)),
  );
  expect(files).toEqual(
    [
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      ...programs,
      ...programs.map((file) => `${file}.map`),
      ...pages,
      'dist/graphiql/files.json',
      'dist/graphiql/licenses.txt',
      'dist/main.licenses.txt',
      'dist/operations.d.ts',
      'dist/operations.js',
      'extend.d.ts',
      'facade.d.ts',
      'package.json',
      'price.d.ts',
      'schema.graphql',
      ...sources.filter((file) => !/^docs\/(?:build\.mjs|page\.\w+)$/.test(file)),
    ].sort(),
  );
  expect(bytes).toBeLessThan(20_000_000);
  for (const file of files.filter((each) => each.startsWith('dist/') && !pages.includes(each)))
    expect(readFileSync(join(installed, file), 'utf8')).not.toContain(elsewhere);
});

/** Those of the page about the sources lead to the sources, as it says. */
const pages = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
  ...readdirSync('docs').flatMap((file) => (/(?<!architecture)\.md$/.test(file) ? [`docs/${file}`] : [])),
];

test.each(pages)('each link of %s leads to a file of the package', (page) => {
  const read = (file: string) => readFileSync(file, 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  const links = [...read(join(installed, page)).matchAll(/\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"/g)]
    .map(([, link, attribute]) => (link ?? attribute)!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { file: path ? join(installed, dirname(page), path) : join(installed, page), anchor };
    });
  expect(links.filter(({ file }) => !existsSync(file))).toEqual([]);
  const headings = (file: string) =>
    [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
  expect(links.filter(({ file, anchor }) => anchor && !headings(file).includes(anchor))).toEqual([]);
});

test('a front end that imports one document gets no other code of the package', async () => {
  const contents =
    "import { BookDocument, EventDocument } from 'catalog-graphql/operations'; import 'catalog-graphql/operations'; console.log(BookDocument);";
  const { outputFiles } = await bundleAsync({
    stdin: { contents, resolveDir: elsewhere },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
  });
  const text = outputFiles[0]!.text;
  expect(text).toContain('BookDocument');
  expect(text).not.toContain('EventDocument');
  expect(text.length).toBeLessThan(20_000);
});

test('package.json says what the package is about, and which files have side effects', () => {
  const { keywords, sideEffects } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    keywords: string[];
    sideEffects: string[];
  };
  expect(keywords).toContain('graphql');
  expect(sideEffects.filter((pattern) => pattern.includes('operations'))).toEqual([]);
});

test('the package has no install script', () => {
  const { scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    scripts?: Record<string, string>;
  };
  const atInstall = ['preinstall', 'install', 'postinstall', 'prepare'].filter((name) => scripts?.[name]);
  expect(atInstall).toEqual([]);
});

test('the program contains the licenses of the bundled packages, and of those in the page of GraphiQL', () => {
  const licenses = readFileSync(join(installed, 'dist/main.licenses.txt'), 'utf8');
  for (const name of ['graphql', 'undici', '@pothos/core', 'kysely', 'hono']) {
    expect(licenses).toMatch(new RegExp(`^${name} [\\d.]+\\n\\n.*(?:MIT|ISC) License`, 'm'));
  }
  const ofPage = readFileSync(join(installed, 'dist/graphiql/licenses.txt'), 'utf8');
  expect(ofPage).toBe(readFileSync('graphiql/licenses.txt', 'utf8'));
});

test("graphql is bundled once: two instances would reject each other's types", () => {
  const pieces = readdirSync(join(installed, 'dist')).filter((file) => /^main.*\.js$/.test(file));
  const text = pieces.map((file) => readFileSync(join(installed, 'dist', file), 'utf8')).join('\n');
  expect(text.split('Ensure that there is only one instance of "graphql"')).toHaveLength(2);
});

test(
  'the command prints its version, its help and the schema',
  async () => {
    const npx = ['--no', '--no-update-notifier', '--', 'catalog-graphql', '--version'];
    expect((await run('npx', npx, { cwd: elsewhere })).stdout).toBe(`${manifest.version}\n`);
    const [help, schema] = await Promise.all([['--help'], ['schema']].map((args) => runProgram({}, args, { main })));
    for (const [name, { env }] of entries()) {
      expect(help!.out).toMatch(new RegExp(`^ +${flagOf(name)} `, 'm'));
      expect(help!.out).toMatch(new RegExp(`\\b${env}$`, 'm'));
    }
    expect(readFileSync('schema.graphql', 'utf8').endsWith(`\n\n${schema!.out}`)).toBe(true);
  },
  LOADED,
);

test(
  'every setting has a flag',
  async () => {
    const wrong = entries().filter(([name]) => !['dataDir', 'noProxy'].includes(name)); // any text is a path, and a list of hosts
    const args = wrong.flatMap(([name]) => [flagOf(name), '\n']);
    const { code, out, err } = await runProgram({}, [...args, flagOf('dataDir'), 'x'], { main, cwd: elsewhere });
    expect([code, out]).toEqual([1, '']);
    for (const [, { env }] of wrong) expect(err).toContain(`  ${env} must be `);
  },
  LOADED,
);

test(
  'the program runs with the demo, and stores its data in the working directory',
  async () => {
    const env = { DATA_DIR: undefined };
    const ports = ['--port', '0', '--origin-port', '0'];
    const program = await startProgram(env, ports, { main, cwd: elsewhere });
    expect(program.banner).toContain('filled with the demo catalog');
    expect(await (await fetch(`${program.url}/docs/settings`)).text()).toContain('<code>REDIS_URL</code>');
    const answer = await fetch(`${program.url}/graphql?query={book(id:"6082808"){title}}`);
    expect(await answer.json()).toEqual({ data: { book: { title: '百年孤独' } } });
    const pieces = await fetch(`${program.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'multipart/mixed' },
      body: JSON.stringify({ query: '{ top250(first: 2) { nodes @stream(initialCount: 0) { title } } }' }),
    });
    const streamed = await pieces.text();
    expect(streamed).toContain('"title":');
    expect(streamed).not.toContain('"errors":');
    const page = await fetch(`${program.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('top250'); // of the tabs
    expect(await program.stop()).toMatchObject({ code: 0, err: '' });
    expect(existsSync(join(elsewhere, '.catalog/origin.db'))).toBe(true);
  },
  LOADED,
);

test(
  'without the SQLite package the facade runs, and the origin runs or reports what is missing',
  async () => {
    const [name = ''] = Object.keys(manifest.optionalDependencies);
    const place = join(elsewhere, 'node_modules', name);
    rmSync(place);
    onTestFinished(() => void link(name));
    const upstream = 'http://127.0.0.1:1';
    const facade = await startProgram({ PORT: '0', BASE_URL: upstream, EVENT_BASE_URL: upstream }, [], { main });
    expect(await facade.stop()).toMatchObject({ code: 0, err: '' });
    if (hasBuiltIn(process.versions)) {
      const origin = await startProgram({ ORIGIN_PORT: '0' }, ['origin'], { main });
      expect(await origin.stop()).toMatchObject({ code: 0, err: '' });
      return;
    }
    for (const args of [[], ['origin']]) {
      const { code, out, err } = await runProgram({ PORT: '0', ORIGIN_PORT: '0' }, args, { main });
      expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 });
      expect(err).toContain(`install ${name} 1.x, run Node 24.16 or newer, or name another service with BASE_URL`);
    }
  },
  LOADED,
);

test('no installed dependency runs a script, and only the SQLite package is native', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { hasInstallScript?: true; dev?: true; optional?: true }>;
  };
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { allowScripts: object };
  const scripted = Object.entries(lock.packages).filter(([path, entry]) => path && entry.hasInstallScript);
  const names = scripted.map(([path]) => path.replace('node_modules/', ''));
  expect(names.filter((name) => name !== 'fsevents').toSorted()).toEqual(Object.keys(allowScripts).toSorted());
  expect(Object.values(allowScripts)).toEqual(names.filter((name) => name !== 'fsevents').map(() => false));
  const shipped = scripted.filter(([, { dev }]) => !dev).map(([path, { optional }]) => [path, optional]);
  expect(shipped).toEqual([['node_modules/@photostructure/sqlite', true]]);
});

test(
  'createFacade can be imported, and leaves nothing running after close',
  async () => {
    const { url } = await service();
    writeFileSync(
      join(elsewhere, 'embed.mjs'),
      `import { ConfigError, createFacade } from 'catalog-graphql';
     const facade = createFacade({ baseUrl: ${JSON.stringify(url)}, eventBaseUrl: ${JSON.stringify(url)}, logLevel: 'warn' });
     const body = JSON.stringify({ query: '{ book(id: "6082808") { title } }' });
     const headers = { 'content-type': 'application/json' };
     const answer = await facade.fetch(new Request('http://here/graphql', { method: 'POST', headers, body }));
     console.log(await answer.text());
     await facade.close();
     try { createFacade({ baseUrl: 'x' }) } catch (error) { console.log(error instanceof ConfigError, error.problems.length) }`,
    );
    const { stdout, stderr } = await run(process.execPath, ['embed.mjs'], { cwd: elsewhere });
    expect(stdout).toBe('{"data":{"book":{"title":"百年孤独"}}}\ntrue 2\n');
    expect(stderr).toBe('');
  },
  LOADED,
);

/** What a program in a folder with the package prints, beside a service of its own. */
async function printed(program: string, url: string): Promise<string[]> {
  const env = { ...process.env, BASE_URL: url, EVENT_BASE_URL: url };
  const { stdout, stderr } = await run(process.execPath, [program], { cwd: elsewhere, env });
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

test(
  'the example of a second service runs in a folder with the package, and is declared in at most 40 lines',
  async () => {
    const { url } = await service();
    cpSync('examples/second-service', join(elsewhere, 'second-service'), { recursive: true });
    const [price, data, ...calls] = await printed('second-service/main.mjs', url);
    expect(price).toContain('"shop":{"min":0,"likely":2,"max":2}');
    const books = [
      { title: '百年孤独', availability: { inStock: 3, price: '39.50' } },
      { title: expect.any(String) as string, availability: null },
    ];
    expect(JSON.parse(data!.slice('data: '.length))).toEqual({ books });
    expect(calls.filter((line) => line.startsWith('call: shop /stock/'))).toHaveLength(2);
    expect(readFileSync('examples/second-service/extension.mjs', 'utf8').trimEnd().split('\n').length).toBeLessThan(41);
  },
  LOADED,
);

test('the example of docs/extend.md runs with the package', async () => {
  const { url } = await service();
  const shop = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"isbn":"9787544253994","copies":7}'),
  );
  const example = tsExamplesOf('docs/extend.md')[0]!.replace('createFacade({', "createFacade({ logLevel: 'error',");
  const ask = `const catalog = { baseUrl: '${url}', eventBaseUrl: '${url}' };
    const facade = graphWithShop(catalog, '${await listen(shop)}', async () => 3);
    const body = JSON.stringify({ query: '{ book(id: "6082808") { rank availability { copies isLast } } }' });
    const headers = { 'content-type': 'application/json' };
    console.log(await (await facade.fetch(new Request('http://here/graphql', { method: 'POST', headers, body }))).text());
    await facade.close();`;
  const { code: script } = await transform(example + ask, { loader: 'ts', format: 'esm' });
  writeFileSync(join(elsewhere, 'extend.mjs'), script);
  const book = '{"rank":3,"availability":{"copies":7,"isLast":false}}';
  expect(await printed('extend.mjs', url)).toEqual([`{"data":{"book":${book}}}`]);
});

test('the price of a document can be imported: it opens nothing, and nothing keeps the process alive', async () => {
  writeFileSync(
    join(elsewhere, 'price.mjs'),
    `import { price } from 'catalog-graphql/price';
     const { cost, mostExpensive } = price('query Q($n: Int) { top250(first: $n) { nodes { directors { name } } } }', { n: 3 });
     console.log(JSON.stringify(cost), mostExpensive.coordinate, process.getActiveResourcesInfo().filter((each) => /Timeout|Immediate|TCP|Handle/.test(each)).length);`,
  );
  const { stdout, stderr } = await run(process.execPath, ['price.mjs'], { cwd: elsewhere });
  expect([stdout, stderr]).toEqual([
    '{"calls":{"least":1,"likely":4,"most":4},"items":15,"values":17} Subject.directors 0\n',
    '',
  ]);
});

test('a program imports the facade, its extension and the price of documents', async () => {
  const { url } = await service();
  writeFileSync(
    join(elsewhere, 'both.mjs'),
    `import { price } from 'catalog-graphql/price';
     import { createFacade } from 'catalog-graphql';
     import { Book, text } from 'catalog-graphql/extend';
     const extend = (builder) => builder.objectField(Book, 'name', (t) => t.reads('title', text, 'The title.'));
     const facade = createFacade({ baseUrl: '${url}', eventBaseUrl: '${url}', extend, logLevel: 'error' });
     const document = '{ book(id: "6082808") { name } }';
     for (const { cost, errors } of [facade.price(document), price(document)])
       console.log(cost?.calls.most, errors.map(({ message }) => message).join());
     await facade.close();`,
  );
  expect(await printed('both.mjs', url)).toEqual([
    '1 ',
    'undefined Cannot query field "name" on type "Book". Did you mean "title"?',
  ]);
});

test.each([
  ['--module', 'node16'],
  ['--module', 'nodenext'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
])(
  'the types of all entries can be imported, and reject wrong options: %s %s %s %s',
  async (...resolution) => {
    writeFileSync(
      join(elsewhere, 'embed.mts'),
      `import { ConfigError, createFacade, type EmbeddedFacade, type FacadeOptions } from 'catalog-graphql';
     import { price } from 'catalog-graphql/price';
     import { Book, type Extend, text } from 'catalog-graphql/extend';
     import { BookDocument } from 'catalog-graphql/operations';
     export type Read = NonNullable<ReturnType<NonNullable<(typeof BookDocument)['__apiType']>>['book']>['title'];
     export const title: Read = 'a title';
     // @ts-expect-error -- a text
     export const wrong: Read = 1;
     export const extend: Extend = (builder) => builder.objectField(Book, 'name', (t) => t.reads('title', text, 'The title.'));
     const options: FacadeOptions = { baseUrl: 'http://a', eventBaseUrl: 'http://b', filmTier: 'basic', corsOrigins: ['http://c'] };
     export const facade: EmbeddedFacade = createFacade(options);
     export const answered: Promise<Response> = facade.fetch(new Request('http://a/graphql'), { address: '192.0.2.1' });
     export const problems: readonly string[] = new ConfigError().problems;
     export const most: number | undefined = price('{ viewer { isLoggedIn } }', {}, { maxDepth: 3 }).cost?.calls.most;
     // @ts-expect-error -- no text
     price('{ viewer { isLoggedIn } }', {}, { maxDepth: '3' });
     // @ts-expect-error -- both addresses are needed
     createFacade({ baseUrl: 'http://a' });
     // @ts-expect-error -- no text
     createFacade({ ...options, maxDepth: '14' });
     // @ts-expect-error -- the host has the port
     createFacade({ ...options, port: 4000 });
     // @ts-expect-error -- there is no such tier
     createFacade({ ...options, filmTier: 'gold' });
    `,
    );
    const tsc = join(here, 'node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', ...resolution, '--target', 'es2023', '--lib', 'es2023,dom'];
    const { stdout } = await run(process.execPath, [tsc, ...flags, '--skipDefaultLibCheck', 'embed.mts'], {
      cwd: elsewhere,
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  },
  LOADED,
);
