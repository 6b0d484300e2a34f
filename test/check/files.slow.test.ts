import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { introspectionFromSchema, print } from 'graphql';
import { describe, expect, test } from 'vitest';
import { type CheckOptions, runCheck } from '../../src/check/command.ts';
import { createManifest } from '../../src/commands/manifest-text.ts';
import { readOperations } from '../../src/config/documents/operation-files.ts';
import { readConfig } from '../../src/config/read.ts';
import { readManifest, sha256Of } from '../../src/config/documents/trusted-documents.ts';
import { schema } from '../../src/graph/schema.ts';
import { runProgram } from '../support/program.ts';
import { temporaryDirectory } from '../support/service.ts';

/** Writes the files into a new folder; returns the folder. */
function folderWith(files: Record<string, string | Buffer>): string {
  const folder = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

async function check(paths: readonly string[], options: Partial<CheckOptions> = {}) {
  const { output, exitCode } = await runCheck(paths, { format: 'json', ...options }, schema, readConfig({}));
  const report = JSON.parse(output) as {
    findings: { code: string; message: string }[];
    operations: { name: string; valid: boolean; findings: { code: string; message: string; coordinate?: string }[] }[];
  };
  return { ...report, exitCode, names: report.operations.map(({ name }) => name) };
}

const fragment = 'fragment Title on Book { id title }';
const query = 'query A { book(id: 1) { ...Title } }';

describe('files as they lie on disks', () => {
  test('a file that several paths lead to is read once', async () => {
    const folder = folderWith({ 'a.graphql': query, 'b/f.graphql': fragment });
    symlinkSync(join(folder, 'b/f.graphql'), join(folder, 'link.graphql'));
    const paths = [folder, join(folder, 'a.graphql'), join(folder, 'b'), join(folder, 'b/../b/f.graphql')];
    expect(await check(paths)).toMatchObject({ exitCode: 0, names: ['A'], findings: [] });
    expect(readOperations(paths, schema)).toHaveLength(1);
  });

  test('equal fragments of several files are one, and different ones are an error', async () => {
    const folder = folderWith({
      'a.graphql': query,
      'one/f.graphql': fragment,
      'two/f.graphql': `# a copy\nfragment Title on Book {\n  id\n  title\n}`,
    });
    expect(await check([folder])).toMatchObject({ exitCode: 0, names: ['A'] });
    writeFileSync(join(folder, 'two/f.graphql'), 'fragment Title on Book { id }');
    const { operations } = await check([folder]);
    expect(operations[0]!.findings[0]!.message).toContain('only one fragment named "Title"');
  });

  test('empty files and files of comments have no operations', async () => {
    const folder = folderWith({ 'a.graphql': `${query}\n${fragment}`, 'b.graphql': '', 'c.graphql': '# later\n,\n' });
    expect(await check([folder])).toMatchObject({ exitCode: 0, names: ['A'], findings: [] });
    await expect(check([join(folder, 'b.graphql')])).rejects.toThrow('There are no operations in these files.');
  });

  const encodings: [string, (text: string) => Buffer][] = [
    ['UTF-8 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big-endian UTF-16 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-16', (text) => Buffer.from(text, 'utf16le')],
    ['big-endian UTF-16', (text) => Buffer.from(text, 'utf16le').swap16()],
  ];
  test.each(encodings)('documents, manifests, prices and schemas may be in %s', async (_, encode) => {
    const text = print(
      readOperations([join(folderWith({ 'a.graphql': `${query} ${fragment}` }), 'a.graphql')], schema)[0]!.document,
    );
    const plain = folderWith({ 'a.graphql': `${query} ${fragment}` });
    const prices = join(plain, 'prices.json');
    await check([plain], { prices, update: true });
    const encoded = folderWith({
      'a.graphql': encode(`${query} ${fragment} # 书`),
      'manifest.json': encode(JSON.stringify({ [sha256Of(text)]: text })),
      'old.graphql': encode('type Query { book(id: ID!): Int }'),
      'prices.json': encode('{"A":{"least":0,"most":0,"items":0,"values":0}}'),
    });
    expect([...readManifest(join(encoded, 'manifest.json')).values()]).toEqual([text]);
    const { names, operations } = await check([join(encoded, 'a.graphql')], {
      manifest: [join(encoded, 'manifest.json')],
      schema: join(encoded, 'old.graphql'),
      prices: join(encoded, 'prices.json'),
    });
    expect(names).toEqual(['A', 'A']);
    expect(operations[0]!.findings.map(({ code }) => code)).toEqual(['COST_RAISED']);
  });
});

describe('what is no document yet', () => {
  test('sources of Relay are rejected, because no server knows the directives of its compiler', async () => {
    const folder = folderWith({
      'a.graphql': `query A($id: ID!) { book(id: $id) { ...Row @arguments(size: 1) } }
        fragment Row on Book @argumentDefinitions(size: { type: "Int" }) @refetchable(queryName: "R") { id title }`,
      'b.graphql': 'query B { book(id: 1) { id } }',
    });
    const { exitCode, names } = await check([folder]);
    expect({ exitCode, names }).toEqual({ exitCode: 1, names: ['A', 'B'] });
    expect(() => createManifest([folder], schema, { format: 'hashes', typename: false })).toThrow(/Unknown directive/);
  });

  test('of a folder of program sources it says that they are not read', async () => {
    const folder = folderWith({ 'App.tsx': 'graphql`query A { nope }`' });
    await expect(check([folder])).rejects.toThrow(
      /no operations in these files: documents in program sources are not read/,
    );
  });

  test('sources with operations beside the files that were read are reported, with exit code 2', async () => {
    const folder = folderWith({
      'a.graphql': 'query A { book(id: 1) { id } }',
      'src/App.tsx': 'import { gql } from "x";\nconst q = gql`\n  query B { nope }`;\nconst r = gql`query C { nope }`;',
      'src/tada.ts': 'graphql(/* GraphQL */ `query D { nope }`);',
      'src/short.ts': 'graphql(`{ nope }`);',
      'src/part.ts': 'gql`fragment F on Book { id }`; const text = `query E`;',
      'src/node_modules/x.ts': 'gql`query F { nope }`',
    });
    const { exitCode, names, findings } = await check([folder]);
    expect({ exitCode, names }).toEqual({ exitCode: 2, names: ['A'] });
    const unread = (file: string, line: number) => ({
      ...{ code: 'DOCUMENT_NOT_READ', file: join(folder, file), line },
      message: expect.stringMatching('^Not read: .*write a manifest') as string,
    });
    expect(findings).toMatchObject([unread('src/App.tsx', 2), unread('src/short.ts', 1), unread('src/tada.ts', 1)]);
    expect(await check([join(folder, 'a.graphql')])).toMatchObject({ exitCode: 0, findings: [] });
  });

  test('documents in sources that a manifest has are read', async () => {
    const text = 'query A {\n  book(id: 1) {\n    id\n  }\n}';
    const folder = folderWith({ 'App.tsx': 'gql`query A { book(id: 1) { id } }`' });
    const manifest = join(folderWith({ 'm.json': JSON.stringify({ [sha256Of(text)]: text }) }), 'm.json');
    expect(await check([folder], { manifest: [manifest] })).toMatchObject({ exitCode: 0, names: ['A'], findings: [] });
  });

  test('an old schema may be the response to an introspection query', async () => {
    const introspection = introspectionFromSchema(schema);
    const folder = folderWith({
      'a.graphql': 'query A { book(id: 1) { id } }',
      'whole.json': JSON.stringify({ data: introspection }),
      'inner.json': `\ufeff${JSON.stringify(introspection)}`,
      'wrong.json': '{"data":1}',
    });
    for (const old of ['whole.json', 'inner.json'])
      expect(await check([join(folder, 'a.graphql')], { schema: join(folder, old) })).toMatchObject({ exitCode: 0 });
    await expect(check([join(folder, 'a.graphql')], { schema: join(folder, 'wrong.json') })).rejects.toThrow(
      /is no schema/,
    );
  });
});

describe('what cannot be read or written', () => {
  const run = (...args: string[]) => runProgram({}, ['check', ...args]);

  test('is reported in one line, with the exit code 2', async () => {
    const folder = folderWith({ 'a.graphql': 'query A { book(id: 1) { id } }', 'locked.graphql': '' });
    mkdirSync(join(folder, 'is-a-folder.graphql'));
    const dangling = temporaryDirectory();
    symlinkSync(join(dangling, 'nowhere'), join(dangling, 'link.graphql'));
    const a = join(folder, 'a.graphql');
    const manifestFolder = join(folder, 'folder.json');
    mkdirSync(manifestFolder);
    const cases: [string[], RegExp][] = [
      [[dangling], /link\.graphql cannot be read \(ENOENT\)\.$/],
      [
        [a, '--prices', join(folder, 'missing/prices.json'), '--update'],
        /prices\.json cannot be written \(ENOENT\)\.$/,
      ],
      [[a, '--prices', folder], /cannot be read \(EISDIR\)\.$/],
      [[a, '--schema', folder], /cannot be read \(EISDIR\)\.$/],
      [[a, '--manifest', folder], /cannot be read \(EISDIR\)\.$/],
      [[a, '--manifest', 'nowhere.json'], /nowhere\.json cannot be read \(ENOENT\)\.$/],
      [[manifestFolder], /no operations/],
    ];
    for (const [args, message] of cases) {
      const { code, out, err } = await run(...args);
      expect({ args, code, out, lines: err.trim().split('\n').length }).toEqual({ args, code: 2, out: '', lines: 1 });
      expect(err.trim()).toMatch(message);
    }
    // A folder whose name ends like that of a file is a folder.
    expect((await run(folder)).code).toBe(0);
  });

  test.skipIf(process.getuid?.() === 0)('a file without permission is reported with the exit code 2', async () => {
    const folder = folderWith({ 'a.graphql': query });
    chmodSync(join(folder, 'a.graphql'), 0);
    expect(await run(folder)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('EACCES') as string });
  });
});
