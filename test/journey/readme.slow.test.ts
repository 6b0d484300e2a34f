/** Runs the examples and commands of README and docs, and compares the responses. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { picture, temporaryDirectory } from '../support/service.ts';

interface Block {
  language: string;
  text: string;
  /** The JSON block after it. */
  response: unknown;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  scripts: object;
  dependencies: object;
  optionalDependencies?: object;
};
const readme = readFileSync('README.md', 'utf8');
const docs = readdirSync('docs').filter((file) => file.endsWith('.md'));
const blocks = [readme, ...docs.map((file) => readFileSync(`docs/${file}`, 'utf8'))].flatMap(blocksOf);
/** Distinct commands without a response, each a line, without their comments. */
const commands = [
  ...new Set(
    blocks
      .filter(({ language, response }) => language === 'sh' && response === undefined)
      .flatMap(({ text }) =>
        text
          .replaceAll(/^# .*\n/gm, '')
          .replaceAll(/ \\\n +/g, ' ')
          .split('\n')
          .map((line) => line.replace(/\s+# .*/, '')),
      ),
  ),
];

// The origin's URL is as long as that of `npm start`, because URLs in records count as bytes.
const setup = await journey({}, undefined, {
  publicUrl: 'http://127.0.0.1:4001',
});

test('the first example has the printed response and the printed numbers', async () => {
  const { text: query, response: printed } = blocks.find(({ language }) => language === 'graphql')!;
  const bytes = (passed: readonly { bytes: number }[]) => passed.reduce((sum, call) => sum + call.bytes, 0);
  const row = (title: string) => new RegExp(`^\\| ${title} .*$`, 'm').exec(readme)?.[0].replaceAll(',', '') ?? '';

  const first = await setup.cost(query, { token: 'demo-alice', waves: true });
  expect(first.response).toEqual(printed);
  const got = Buffer.byteLength(JSON.stringify(first.response));
  const again = await setup.cost(query, { token: 'demo-alice', waves: true });
  expect(row('through the graph, first').match(/\d+/g)?.map(Number)).toEqual([
    1,
    first.calls,
    first.depth,
    bytes(first.passed),
    got,
  ]);
  expect(row('through the graph, again').match(/\d+/g)?.map(Number)).toEqual([
    1,
    again.calls,
    again.depth,
    bytes(again.passed),
    got,
  ]);

  const paths = [
    '/v2/book/6082808',
    '/v2/book/6082808/collection',
    '/v2/book/series/10489/books?count=2',
    '/v2/book/6082808/annotations?count=2',
    '/v2/movie/top250?count=2',
    '/v2/movie/subject/1292052',
    '/v2/movie/subject/1291546',
  ];
  const responses = await Promise.all(paths.map((path) => setup.origin.get(path, 'alice')));
  const sum = responses.reduce((total, { text }) => total + Buffer.byteLength(text), 0);
  expect(row('client alone').match(/\d+/g)?.map(Number)).toEqual([paths.length, paths.length, sum, sum]);
});

const curl = await promisify(execFile)('curl', ['--version']).catch(() => undefined);

test.skipIf(!curl)('every shell request has the printed response', async () => {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'picture.png'), Buffer.from(await picture().arrayBuffer()));
  const requests = blocks.filter(({ language, response }) => language === 'sh' && response !== undefined);
  expect(requests).toHaveLength(5);
  for (const { text, response } of requests) expect(await shell(text, setup.facade.url, cwd)).toEqual(response);
});

test('the page in "A front end in 60 seconds" shows five films, loaded from another origin', async () => {
  const [, script] = /<script type="module">([^]*?)<\/script>/.exec(readme)!;
  const origin = 'http://localhost:5173';
  const items: { textContent: string }[] = [];
  const document = {
    createElement: () => ({ textContent: '' }),
    querySelector: () => ({ append: (item: { textContent: string }) => items.push(item) }),
  };
  const fetchFromThere = async (url: string, init: RequestInit) => {
    const to = url.replace('http://localhost:4000', setup.facade.url);
    const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    const preflight = await fetch(to, { method: 'OPTIONS', headers: { origin, ...asks } });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('content-type');
    const response = await fetch(to, { ...init, headers: { ...init.headers, origin } });
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    return response;
  };
  const AsyncFunction = fetchFromThere.constructor as new (
    ...parts: string[]
  ) => (...given: unknown[]) => Promise<void>;
  await new AsyncFunction('document', 'fetch', script!)(document, fetchFromThere);
  expect(items).toHaveLength(5);
  expect(items[0]!.textContent).toMatch(/^肖申克的救赎: 9\.\d$/);
});

describe('the commands', () => {
  const cwd = temporaryDirectory();
  cpSync('operations', join(cwd, 'operations'), { recursive: true });
  const isServer = (line: string) =>
    /(npm start|catalog-graphql(?: --(?!help).*)?)$/.test(line) && !/PERSISTED/.test(line);
  const servers = commands.filter(isServer);

  test.each(servers.filter((line) => !line.startsWith('npm ci')))('%s: the facade starts', async (line) => {
    const program = await startProgram(...startOf(line), { cwd });
    expect((await fetch(`${program.url}/health`)).status).toBe(200);
    expect(await program.stop()).toMatchObject({ code: 0, err: '' });
  });

  test.skipIf(!curl)(
    'the manifest contains the operations, which run by their hashes with PERSISTED_ONLY',
    async () => {
      const [make, start, request] = ['manifest operations', 'PERSISTED_ONLY=on', 'documentId='].map((part) =>
        commands.find((line) => line.includes(part))!,
      );
      const [, file] = /> (\S+)$/.exec(make!)!;
      const { out } = await runProgram(...startOf(make!.replace(/ > .*/, '')), { cwd });
      writeFileSync(join(cwd, file!), out);
      const documents = Object.entries(JSON.parse(out) as Record<string, string>);
      const [hash] = documents.find(([, text]) => text.startsWith('query Book('))!;
      const [env, args] = startOf(start!);
      const upstreams = { BASE_URL: setup.origin.url, EVENT_BASE_URL: setup.origin.url };
      const program = await startProgram({ ...upstreams, ...env }, args, { cwd });
      expect(await shell(request!, program.url, cwd, { hash })).toMatchObject({
        data: { book: { title: '百年孤独' } },
      });
      await program.stop();
    },
  );

  test.skipIf(!curl)('the shelf of a phone is read by its document', async () => {
    const request = commands.find((line) => line.includes('shelf-sync.graphql'))!;
    const { data } = (await shell(request, setup.facade.url, cwd)) as {
      data: { user: { shelfChanges: { nodes: object[] } } };
    };
    expect(data.user.shelfChanges.nodes.length).toBeGreaterThan(10);
  });

  test('print the schema and the help', async () => {
    expect(readFileSync('schema.graphql', 'utf8')).toContain((await runProgram({}, ['schema'])).out);
    expect((await runProgram({}, ['--help'])).out).toContain('MAX_DEPTH');
  });

  test('that run beside a server name existing subcommands with existing options', async () => {
    const subcommands = commands.flatMap((line) => {
      const [, name, rest] = /^(?:npx )?catalog-graphql ([a-z]+)(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, options: rest!.match(/ --[a-z-]+/g) ?? [] }];
    });
    expect(subcommands.length).toBeGreaterThan(3);
    const names = [...new Set(subcommands.map(({ name }) => name))];
    const helps = await Promise.all(names.map((name) => runProgram({}, [name, '--help'])));
    for (const { name, options } of subcommands) {
      const { code, out } = helps[names.indexOf(name)]!;
      expect([name, code]).toEqual([name, 0]);
      for (const option of options) expect(out).toContain(option.trim());
    }
  });

  test('that need npm, a registry or a container engine name existing files and scripts', () => {
    const others = commands.filter(
      (line) => !isServer(line) && !/catalog-graphql (?:[a-z]+|--help)|PERSISTED|documentId|shelf-sync/.test(line),
    );
    const named: Record<string, boolean> = {
      'npm test': 'test' in manifest.scripts,
      [`npm install ./catalog-graphql-${manifest.version}.tgz`]: true,
      // Where systemd finds the command.
      [`npm install --global ./catalog-graphql-${manifest.version}.tgz`]: true,
      // test/clients/front-ends-page.test.ts runs the app.
      'npm create -y vite@latest my-app -- --template react-ts && cd my-app': true,
      'npm pack ../catalog-graphql/client': existsSync('client/package.json'),
      [`npm install ./catalog-graphql-client-${manifest.version}.tgz @apollo/client graphql rxjs apollo-upload-client`]: true,
      'npm install -D @types/apollo-upload-client': true,
      'docker compose up --build': existsSync('compose.yaml'),
      // The manifests of two releases become one.
      'jq -s add manifests/*.json > manifest.json': true,
    };
    // test/deployment.test.ts runs what they are for.
    const isOfSystem = (line: string) => /^(?:cp|sed .*) deploy\/\S+ |^systemctl enable /.test(line);
    expect(others.filter((line) => !named[line] && !isOfSystem(line))).toEqual([]);
  });
});

test('the dependencies in docs/architecture.md are exactly those of the package', () => {
  const { dependencies, optionalDependencies } = manifest;
  const [, list = ''] = readFileSync('docs/architecture.md', 'utf8').split('## Dependencies');
  const named = [...list.matchAll(/^- (`.*?): /gm)].flatMap(([, names]) =>
    [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  expect(named.sort()).toEqual(Object.keys({ ...dependencies, ...optionalDependencies }).sort());
});

function blocksOf(page: string): Block[] {
  const found = [...page.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)].map(
    ([, language, text]) => [language!, text!] as const,
  );
  return found.map(([language, text], at) => {
    const [next, json] = found[at + 1] ?? [];
    const isRequest = (language === 'sh' || language === 'graphql') && next === 'json';
    return { language, text, response: isRequest ? (JSON.parse(json!) as unknown) : undefined };
  });
}

/** The variables and arguments of a line that starts the program, with free ports. */
function startOf(line: string): [NodeJS.ProcessEnv, string[]] {
  const words = line
    .replace(/--port \d+/, '--port 0')
    .replaceAll('…', 'some-token')
    .split(' ');
  const variables = words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split(/=(.*)/, 2));
  const at = words.indexOf('catalog-graphql');
  return [{ PORT: '0', ORIGIN_PORT: '0', ...Object.fromEntries(variables) }, at < 0 ? [] : words.slice(at + 1)];
}

async function shell(command: string, url: string, cwd: string, env: object = {}): Promise<unknown> {
  const options = { cwd, env: { PATH: process.env.PATH, ...env } };
  const { stdout } = await promisify(execFile)('bash', ['-c', command.replace('http://localhost:4000', url)], options);
  return JSON.parse(stdout);
}
