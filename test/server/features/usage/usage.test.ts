import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperationTypeNode, parse } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import type { FacadeOptions } from '../../../../facade.d.ts';
import { schema } from '../../../../src/graph/schema.ts';
import { createMetrics } from '../../../../src/server/observability/metrics.ts';
import { type Release, printReleases } from '../../../../src/commands/usage-releases.ts';
import { printUsage } from '../../../../src/commands/usage-text.ts';
import { sha256Of } from '../../../../src/config/documents/trusted-documents.ts';
import { type UsageReport, type UsedDocument, mergeReports } from '../../../../src/server/features/usage/report.ts';
import { createUsage } from '../../../../src/server/features/usage/usage.ts';
import type { ExecutableDocument } from '../../../../src/engine/documents/prepare.ts';
import { createCallLog } from '../../../../src/upstream/call-log.ts';
import type { UpstreamSession } from '../../../../src/upstream/upstream-session.ts';
import { alice, embedded, json, post } from '../../../support/embedded.ts';
import { runProgram, startProgram } from '../../../support/program.ts';
import { service, temporaryDirectory } from '../../../support/service.ts';

async function counted(options: Partial<FacadeOptions> = {}) {
  const facade = embedded((await service()).url, { usage: true, ...options });
  const get = (path: string, headers = {}) => facade.fetch(new Request(`http://here${path}`, { headers }));
  return {
    get,
    send: async (query: string, headers: object = {}, variables?: object) =>
      (await facade.fetch(new Request('http://here/graphql', post(query, headers, variables)))).text(),
    report: async () => (await (await get('/usage')).json()) as UsageReport,
    metric: async (pattern: RegExp) =>
      [...(await (await get('/metrics')).text()).matchAll(pattern)].reduce(
        (sum, [, number]) => sum + Number(number),
        0,
      ),
  };
}

const calls = /^catalog_upstream_calls_total\{.*\} (\d+)$/gm;
const of = ({ coordinates }: UsageReport, coordinate: string) =>
  coordinates.find((each) => each.coordinate === coordinate);

test('the calls of all coordinates are those of the metric, whatever is sent', async () => {
  const { send, report, metric } = await counted();
  const pages = readdirSync('operations').map((file) => readFileSync(join('operations', file), 'utf8'));
  for (const page of pages) await send(page, alice);
  await Promise.all(pages.map((page) => send(page)));
  await send('{ first: book(id: "6082808") { heading: title } other: book(id: "nothing") { title } }');
  await send('{ ... @defer { top250(first: 3) { nodes { directors { name } } } } }', { accept: 'multipart/mixed' });
  const found = await report();
  expect(found.calls).toBe(await metric(calls));
  const attributed = found.coordinates.reduce((sum, each) => sum + each.calls, 0);
  expect(attributed + found.unattributed).toBe(found.calls);
  expect(found.unattributed).toBeLessThanOrEqual(found.calls / 1_000);
  expect(found.calls).toBeGreaterThan(30);
  expect(found.clients.reduce((sum, each) => sum + each.calls, 0)).toBe(attributed);
  expect(found.requests).toBe(2 * pages.length + 2);
});

test('each call is that of the field that caused it, by whatever alias, and by client and operation', async () => {
  const { send, report } = await counted();
  const web = { 'apollographql-client-name': 'web', 'apollographql-client-version': '1.2.0' };
  const phone = { 'x-client-name': 'phone', 'x-client-version': '7' };
  await send('query Mine { all: top250(first: 2) { nodes { who: directors { name } } } }', web);
  await send('{ book(id: "6082808") { ... on Node { id } title } }', phone);
  const found = await report();
  expect(of(found, 'Query.top250')).toMatchObject({
    requests: 1,
    calls: 1,
    clients: ['web 1.2.0'],
    operations: ['other'],
  });
  // A record is loaded for the field that has it as its value.
  expect(of(found, 'SubjectConnection.nodes')).toMatchObject({ calls: 2, clients: ['web 1.2.0'] });
  expect(of(found, 'Subject.directors')).toMatchObject({ requests: 1, calls: 0 });
  expect(of(found, 'Book.title')).toMatchObject({ requests: 1, clients: ['phone 7'] });
  expect(of(found, 'Book.id')).toMatchObject({ requests: 1 }); // through the interface
  expect(found.unused).toContain('Book.pages');
  expect(found.clients).toMatchObject([
    { name: 'web', version: '1.2.0', requests: 1 },
    { name: 'phone', version: '7', requests: 1 },
  ]);
});

test('what a variable may have counts as read, and so do the values of an enum in a response', async () => {
  const { send, report } = await counted();
  await send('query ($id: ID!) { book(id: $id) { viewerCollection { status } } }', alice, { id: '6082808' });
  await send('mutation ($input: CreateNoteInput!) { createNote(input: $input) { note { id } } }', alice, {
    input: { title: 'A', content: 'B', privacy: 'FRIEND' },
  });
  const found = await report();
  for (const coordinate of [
    ...['CollectionStatus.WISH', 'CreateNoteInput.title', 'NotePrivacy.FRIEND'],
    ...['CreateNoteInput.pictures', 'PhotoLayout.LEFT'], // an app that is installed may send them
  ])
    expect([coordinate, of(found, coordinate)?.requests]).toEqual([coordinate, 1]);
  expect(found.unused).toContain('CollectBookInput.tags');
  expect(found.unused).toContain('SubjectType.MOVIE');
});

test('a stored response counts as read, without a call', async () => {
  const { send, report } = await counted();
  for (let time = 0; time < 3; time++) await send('{ book(id: "6082808") { title } }');
  expect(of(await report(), 'Book.title')).toMatchObject({ requests: 3 });
  expect((await report()).calls).toBe(1);
});

test('names that clients choose are bounded, and no count is lost', async () => {
  const usage = createUsage(schema, [], createMetrics());
  const document = parse('query X { book(id: 1) { title } }');
  const ready = { document, operation: document.definitions[0] } as ExecutableDocument;
  const operation = { type: OperationTypeNode.QUERY, name: 'X' };
  const session = { callLog: createCallLog() } as UpstreamSession;
  const count = (name: string) =>
    usage.onEnd({ headers: { 'x-client-name': name }, operation, document: ready, session, isStored: false });
  for (let sent = 0; sent < 5; sent++) count('real');
  for (let sent = 0; sent < 1_000; sent++) count(`client ${sent}`);
  for (const name of ['\u0007', 'x'.repeat(65), ' ']) count(name);
  const report = usage.report();
  expect(report.clients.length).toBeLessThanOrEqual(51);
  expect(report.clients.find(({ name }) => name === 'real')).toMatchObject({ requests: 5 });
  expect(of(report, 'Book.title')!.requests).toBe(1_008);
  expect(report.operations.map(({ name }) => name)).toEqual(['other']);
});

test('trusted documents are counted by their text, each with its clients and calls, and others are not', async () => {
  const persistedOperations = join(temporaryDirectory(), 'manifest.json');
  const [old, current] = [
    'query Book { book(id: "6082808") { title } }',
    'query Book { book(id: "6082808") { title pages } }',
  ];
  const never = 'query Never { book(id: "6082808") { pages } }';
  writeFileSync(persistedOperations, JSON.stringify({ v1: old, v2: current, never }));
  const { send, report } = await counted({ persistedOperations });
  const phone = (version: string) => ({ 'x-client-name': 'phone', 'x-client-version': version });
  await send(old, phone('1'));
  await send(old, phone('1')); // a stored response
  await send(current, phone('2'));
  await send(`${current} `, phone('3'));
  for (let sent = 0; sent < 60; sent++) await send(current, { 'x-client-name': `client ${sent}` });
  const { documents } = await report();
  expect(documents.map(({ hash }) => hash)).toEqual([old, current, never].map(sha256Of));
  expect(documents[2]).toMatchObject({ requests: 0, last: null, clients: [] });
  expect(documents[0]).toMatchObject({ requests: 2, calls: 1, clients: ['phone 1'] });
  expect(documents[1]).toMatchObject({ requests: 61, calls: 1 });
  expect(documents[1]!.clients).toHaveLength(51);
});

test('with USAGE_CLIENTS only these are counted by name, also in metrics', async () => {
  const { send, report, metric } = await counted({ usageClients: ['web'] });
  for (const name of ['web', 'evil', 'web']) await send('{ viewer { isLoggedIn } }', { 'x-client-name': name });
  expect((await report()).clients.map(({ name }) => name)).toEqual(['web', 'other']);
  expect(await metric(/^catalog_client_operations_total\{client="web"\} (\d+)$/gm)).toBe(2);
  expect(await metric(/^catalog_client_operations_total\{client="other"\} (\d+)$/gm)).toBe(1);
  expect(await metric(/(evil)/g)).toBe(0);
});

test('/usage is off by default and in production without a token, and needs the token that is set', async () => {
  const status = async (options: Partial<FacadeOptions>, headers = {}) =>
    (await (await counted(options)).get('/usage', headers)).status;
  expect(await status({ usage: false })).toBe(404);
  expect(await status({ production: true })).toBe(404);
  const usageToken = 'a-token-of-operators';
  for (const production of [true, false]) {
    expect(await status({ production, usageToken })).toBe(401);
    expect(await status({ production, usageToken }, { authorization: 'Bearer another' })).toBe(401);
    expect(await status({ production, usageToken }, { authorization: `Bearer ${usageToken}` })).toBe(200);
  }
});

const report = (more: Partial<UsageReport>): UsageReport => ({
  ...{ since: '2026-01-01T00:00:00.000Z', until: '2026-03-01T00:00:00.000Z', processes: 1 },
  ...{
    requests: 9,
    calls: 5,
    unattributed: 0,
    clients: [],
    operations: [],
    documents: [],
    coordinates: [],
    unused: [],
  },
  ...more,
});
const use = {
  coordinate: 'Subject.pubdate',
  deprecated: 'old',
  requests: 3,
  calls: 1,
  clients: ['web 1'],
  operations: ['Film'],
};

test('the command says what is safe to remove, who reads the rest, and when it is too early to say', () => {
  const idle = report({ coordinates: [{ ...use, last: '2026-01-02T00:00:00.000Z' }], unused: ['Book.pages'] });
  expect(printUsage(idle, 30)).toContain('Subject.pubdate (deprecated): safe to remove: nobody in 30 days');
  expect(printUsage(idle, 30)).toContain('Book.pages: safe to remove: nobody in 30 days');
  const read = printUsage(report({ coordinates: [{ ...use, last: '2026-02-28T00:00:00.000Z' }] }), 30);
  expect(read).toContain('Subject.pubdate (deprecated): in use; read 3 times');
  expect(read).toContain('clients web 1; operations Film');
  const early = printUsage(idle, 90);
  expect(early).toContain('counted since 2026-01-01T00:00:00.000Z, for 59.0 days');
  expect(early).toContain('too short to say what nobody reads in 90 days');
  expect(early).not.toContain('safe to remove');
});

const releaseOf = (name: string, ...texts: string[]): Release => ({
  name,
  documents: new Map(texts.map((text) => [text, text])),
});
/** A trusted document that was known from the beginning of the report. */
const used = (hash: string, more: Partial<UsedDocument> = {}): UsedDocument => ({
  ...{ hash, since: '2026-01-01T00:00:00.000Z', requests: 0, calls: 0, last: null, clients: [] },
  ...more,
});
const ran = (hash: string, last: string, ...clients: string[]) => used(hash, { requests: 4, calls: 6, last, clients });

test('of each release the command says who runs its documents, and that one goes whose own documents nobody runs', () => {
  const documents = [
    ran('shared', '2026-02-28T00:00:00.000Z', 'phone 1', 'phone 2'),
    ran('new', '2026-02-27T00:00:00.000Z', 'phone 2'),
    ran('old', '2026-01-02T00:00:00.000Z', 'phone 1'),
    used('never'),
  ];
  const releases = [releaseOf('1.json', 'shared', 'old', 'never'), releaseOf('2.json', 'shared', 'new')];
  const lines = printReleases(report({ documents }), releases, 30).split('\n');
  expect(lines[1]).toBe(
    '1.json: 1 of 3 documents in use, 0 of the 2 that it alone has: safe to remove, nobody in 30 days',
  );
  expect(lines[2]).toBe(
    '  shared: run 4 times, last 2026-02-28T00:00:00.000Z, 1.5 upstream calls each; clients phone 1, phone 2',
  );
  expect(lines[4]).toBe('  never: nobody');
  expect(lines[5]).toBe('2.json: 2 of 2 documents in use, 1 of the 1 that it alone has');
  const unused = report({ documents: [used('shared'), used('old'), used('never')] });
  expect(printReleases(unused, [releaseOf('1.json', 'old', 'never')], 90)).toContain('it alone has: nobody yet');
});

test('a release is not called unused if the server does not know a document of it, or knows it for a short time only', () => {
  const release = [releaseOf('1.json', 'a', 'b')];
  const unknown = printReleases(report({ documents: [used('a')] }), release, 30);
  expect(unknown).toContain('that it alone has: not known, the server does not have all of these');
  expect(unknown).toContain('  b: not known: no trusted document of this server');
  const documents = [used('a'), used('b', { since: '2026-02-20T00:00:00.000Z' })];
  expect(printReleases(report({ documents }), release, 30)).toContain('that it alone has: nobody yet');
  // Another replica has an older manifest, and counts nothing of it.
  const sum = mergeReports([report({ documents: [used('a'), used('b')] }), report({ documents: [used('a')] })]);
  expect(sum.documents.map(({ hash }) => hash)).toEqual(['a']);
});

test('a document that comes into the manifest is counted from then on, also if it was run before', () => {
  const text = 'query X { book(id: 1) { title } }';
  const texts: string[] = [];
  let replaced = 0;
  const trusted = { texts: () => texts, replaced: () => replaced };
  const usage = createUsage(schema, [], createMetrics(), { isKnownName: () => false, trusted });
  const document = parse(text);
  const ready = { document, operation: document.definitions[0] } as ExecutableDocument;
  const operation = { type: OperationTypeNode.QUERY, name: 'X' };
  const session = { callLog: createCallLog() } as UpstreamSession;
  const run = () => usage.onEnd({ headers: {}, operation, document: ready, session, isStored: false });
  run();
  expect(usage.report().documents).toEqual([]);
  texts.push(text);
  replaced++;
  run();
  expect(usage.report().documents).toMatchObject([{ hash: sha256Of(text), requests: 1 }]);
  texts.pop();
  replaced++;
  run();
  expect(usage.report().documents).toEqual([]);
});

test('reports of several processes are added up, and know the past since the last of them began', () => {
  const [a, b] = [
    report({ coordinates: [{ ...use, last: '2026-01-02T00:00:00.000Z' }], unused: ['Book.pages', 'Book.isbn'] }),
    report({
      since: '2026-02-01T00:00:00.000Z',
      coordinates: [
        { ...use, last: null, clients: ['phone 2'] },
        { ...use, coordinate: 'Book.pages', deprecated: undefined, last: null },
      ],
      unused: ['Book.isbn'],
    }),
  ];
  const sum = mergeReports([a, b]);
  expect(sum).toMatchObject({
    since: '2026-02-01T00:00:00.000Z',
    processes: 2,
    requests: 18,
    calls: 10,
    unused: ['Book.isbn'],
  });
  expect(of(sum, 'Subject.pubdate')).toMatchObject({
    ...{ requests: 6, calls: 2, last: '2026-01-02T00:00:00.000Z', clients: ['phone 2', 'web 1'] },
  });
});

test('the command reads a server, and says what it needs', async () => {
  const usageToken = 'a-token-of-operators';
  const folder = mkdtempSync(join(tmpdir(), 'catalog-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${usageToken}\n`);
  const env = { PORT: '0', ORIGIN_PORT: '0', USAGE: 'on', USAGE_TOKEN: usageToken };
  const program = await startProgram(env);
  for (let time = 0; time < 8; time++)
    await fetch(`${program.url}/graphql`, {
      method: 'POST',
      headers: { ...json, connection: 'close' },
      body: '{"query":"{ viewer { isLoggedIn } }"}',
    });
  const { code, out, err } = await runProgram({}, ['usage', program.url, '--token-file', tokenFile]);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^counted since .* days, by 1 process: 8 operations, 0 upstream calls/);
  expect(out).toContain('Subject.pubdate (deprecated): nobody yet');
  const ofRelease = ['--manifest', 'client/manifest.json'];
  const release = await runProgram({}, ['usage', program.url, '--token-file', tokenFile, ...ofRelease]);
  expect(release.out).toMatch(
    /^manifest\.json: 0 of \d+ documents in use, .*: not known, the server does not have all of these$/m,
  );
  const without = await runProgram({}, ['usage', program.url]);
  expect([without.code, without.out]).toEqual([1, '']);
  expect(without.err).toContain('needs the token of USAGE_TOKEN');
  await program.stop();
  expect((await runProgram({}, ['usage', program.url])).err).toContain('cannot be reached');
});
