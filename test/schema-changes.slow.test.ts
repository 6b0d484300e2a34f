import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from './support/service.ts';

// Each call starts a process.
vi.setConfig({ testTimeout: 60_000 });

const run = promisify(execFile);
const script = resolve('scripts/schema-changes.mjs');

const schema = (fields: string) => `type Query {\n${fields}\n}\n`;
const first = schema('  book(id: ID!): String\n  film: String');

/** A repository with one commit that contains the first schema. */
async function repository() {
  const cwd = temporaryDirectory();
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=test', '-c', 'user.email=test@test.invalid', '-C', cwd, ...args]);
  const write = (text: string, changelog?: string) => {
    writeFileSync(join(cwd, 'schema.graphql'), text);
    if (changelog !== undefined) writeFileSync(join(cwd, 'CHANGELOG.md'), changelog);
  };
  const commit = async () => {
    await git('add', '-A');
    await git('commit', '-qm', 'a change');
  };
  await git('init', '-q');
  write(first);
  await commit();
  return { cwd, git, write, commit };
}

async function changes(cwd: string, ...args: string[]) {
  const ended = await run(process.execPath, [script, ...args], { cwd }).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  return { code: 'code' in ended ? ended.code : 0, out: ended.stdout, err: ended.stderr };
}

test('an addition to the schema is reported and accepted', async () => {
  const { cwd, write } = await repository();
  write(schema('  book(id: ID!): String\n  film: String\n  note: String'));
  const { code, out } = await changes(cwd);
  expect([code, out]).toEqual([
    0,
    "Changes of schema.graphql since the last commit: 1, of them breaking 0.\n  safe       Query.note: Field 'note' was added to object type 'Query'\n",
  ]);
});

test('a breaking change is rejected until the changelog names it', async () => {
  const { cwd, write } = await repository();
  const broken = schema('  book(id: ID!, city: String!): String');
  const sections = (breaking: string) =>
    `# Changelog\n\n## [Unreleased]\n\n### Breaking\n\n${breaking}\n### Added\n\n- \`Query.film\`\n\n## 0.1.0\n\n### Breaking\n\n- \`Query.film\`\n`;
  write(broken, sections('- `Query.book.city` must be told.\n'));
  const rejected = await changes(cwd);
  expect(rejected.code).toBe(1);
  expect(rejected.out).toContain('of them breaking 2.');
  expect(rejected.out).toContain("BREAKING   Query.film: Field 'film' was removed");
  expect(rejected.err).toContain('Name under Unreleased, Breaking: `Query.film`\n');
  write(broken, sections('- `Query.book.city` must be told.\n- `Query.film` is gone.\n'));
  const named = await changes(cwd);
  expect([named.code, named.err]).toEqual([0, '']);
  expect(named.out).toContain('BREAKING   Query.film');
});

test('a committed change is compared with the commit before, or with a given one', async () => {
  const { cwd, git, write, commit } = await repository();
  write(schema('  book(id: ID!): String'));
  await commit();
  const { code, out } = await changes(cwd);
  expect(code).toBe(1);
  expect(out).toContain('since the commit before the last');
  writeFileSync(join(cwd, 'other'), '');
  await git('add', '-A');
  await git('commit', '-qm', 'another');
  expect(await changes(cwd)).toMatchObject({ code: 0 });
  expect(await changes(cwd, 'HEAD~2')).toMatchObject({ code: 1 });
});

test('without history the script reports that there is nothing to compare with', async () => {
  const { cwd, write } = await repository();
  expect(await changes(cwd)).toEqual({
    code: 0,
    out: 'No schema.graphql in the commit before the last (or no history here): nothing to compare with.\n',
    err: '',
  });
  rmSync(join(cwd, '.git'), { recursive: true });
  write(schema('  other: String'));
  const { code, out } = await changes(cwd);
  expect([code, out]).toEqual([
    0,
    'No schema.graphql in the last commit (or no history here): nothing to compare with.\n',
  ]);
});
