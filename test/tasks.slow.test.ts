/** The tasks of docs/tasks.md, done as the page says on a copy of the sources. */
import { execFileSync } from 'node:child_process';
import {
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
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { thorough } from './support/optional.ts';
import { type Program, startProgram } from './support/program.ts';

const LONGEST = 40;
/** What the program and its generated files do not need. */
const LEFT_OUT = /^(?:\..*|node_modules|dist|examples|bench)$/;

/** The files of GraphiQL take seconds to make. */
const QUIET = { PORT: '0', ORIGIN_PORT: '0', GRAPHIQL: 'off' };

const page = readFileSync('docs/tasks.md', 'utf8');
const tasks = page.split(/^## /m).slice(1);

/** The files of a block, each with its lines. */
const changesIn = (task: string) =>
  [...task.matchAll(/^```diff\n([^]*?)^```/gm)].flatMap(([, block]) =>
    block!
      .split(/^@@ /m)
      .slice(1)
      .map((part) => {
        const [file, ...lines] = part.trimEnd().split('\n');
        return { file: file!, lines };
      }),
  );

/** Throws unless the place that the lines show is there once. */
function apply(folder: string, { file, lines }: ReturnType<typeof changesIn>[number]): void {
  const path = join(folder, file);
  const withMarks = (...marks: string[]) =>
    lines.filter(([mark]) => marks.includes(mark!)).map((line) => `${line.slice(1)}\n`);
  const [old, changed] = [withMarks(' ', '-').join(''), withMarks(' ', '+').join('')];
  expect(lines.filter((line) => !/^[ +-]/.test(line))).toEqual([]);
  if (old === '') {
    expect(existsSync(path)).toBe(false);
    mkdirSync(dirname(path), { recursive: true });
    return writeFileSync(path, changed);
  }
  const parts = readFileSync(path, 'utf8').split(old);
  expect({ file, old, places: parts.length - 1 }).toEqual({ file, old, places: 1 });
  writeFileSync(path, parts.join(changed));
}

const copy = mkdtempSync(join(tmpdir(), 'catalog-tasks-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));
const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: copy, encoding: 'utf8', stdio: 'pipe' });

let program: Program;
beforeAll(async () => {
  for (const entry of readdirSync('.').filter((name) => !LEFT_OUT.test(name)))
    cpSync(entry, join(copy, entry), { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'));
  for (const task of tasks) for (const change of changesIn(task)) apply(copy, change);
  run('--input-type=module', '-e', "await (await import('./build.mjs')).bundle()");
  const env = { ...QUIET, CALLS_HEADER: 'on' };
  program = await startProgram(env, [], { main: join(copy, 'dist/main.js') });
}, 600_000);

async function send(query: string) {
  const response = await fetch(`${program.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer demo-alice' },
    body: JSON.stringify({ query }),
  });
  return { ...((await response.json()) as { data: unknown; errors?: unknown }), headers: response.headers };
}

test(`there are six tasks, whose code has at most ${LONGEST} lines each`, () => {
  expect(tasks.map((task) => task.split('\n', 1)[0])).toEqual([
    'A field',
    'An endpoint',
    'A write',
    'A setting',
    'A capability',
    'An error code',
  ]);
  for (const task of tasks) expect(changesIn(task).flatMap(({ lines }) => lines).length).toBeLessThanOrEqual(LONGEST);
});

test('the field has its value', async () => {
  expect((await send('{ book(id: "6082808") { pages pageCount } }')).data).toEqual({
    book: { pages: '360', pageCount: 360 },
  });
});

test('the endpoint is called by its field, and its rule answers', async () => {
  const query = '{ book(id: "6082808") { publisher samePublisher(first: 3) { totalCount nodes { publisher } } } }';
  const publisher = '南海出版公司';
  expect((await send(query)).data).toEqual({
    book: { publisher, samePublisher: { totalCount: 10, nodes: [{ publisher }, { publisher }, { publisher }] } },
  });
});

test('the write changes what the next read shows', async () => {
  const shown = '{ book(id: "6082808") { viewerCollection { status } } }';
  const reading = 'bookId: "6082808", status: READING, isPrivate: false, onConflict: UPDATE';
  await send(`mutation { collectBook(input: { ${reading} }) { collection { status } } }`);
  expect((await send(shown)).data).toEqual({ book: { viewerCollection: { status: 'READING' } } });
  const written = await send('mutation { finishBook(input: { bookId: "6082808" }) { collection { status } } }');
  expect(written.data).toEqual({ finishBook: { collection: { status: 'READ' } } });
  expect((await send(shown)).data).toEqual({ book: { viewerCollection: { status: 'READ' } } });
});

test('the setting turns the capability on, which tells the calls of an operation', async () => {
  const query = '{ book(id: "3673651") { title } }';
  expect((await send(query)).headers.get('x-upstream-calls')).toBe('1');
  expect((await send(query)).headers.get('x-upstream-calls')).toBe('0');
  const without = await startProgram(QUIET, [], { main: join(copy, 'dist/main.js') });
  const response = await fetch(`${without.url}/graphql?query={viewer{isLoggedIn}}`);
  expect([response.status, response.headers.get('x-upstream-calls')]).toEqual([200, null]);
});

// The compiler needs half a minute, also on an idle machine.
test.runIf(thorough)(
  'after the tasks the sources compile, keep their structure, and generate what the page says',
  () => {
    run('build.mjs', 'codegen.ts');
    run('dist/codegen.js');
    expect(readFileSync(join(copy, 'schema.graphql'), 'utf8')).toContain('  pageCount: Int\n');
    expect(readFileSync(join(copy, 'docs/settings.md'), 'utf8')).toContain('`CALLS_HEADER`');
    writeFileSync(
      join(copy, 'tsconfig.src.json'),
      '{ "extends": "./tsconfig.json", "include": ["src", "codegen.ts"] }',
    );
    run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.src.json');
    run('scripts/structure.mjs');
  },
  600_000,
);
