import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperationTypeNode } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import type { FacadeOptions } from '../../../../facade.d.ts';
import { printUsage } from '../../../../src/commands/usage-text.ts';
import type { UsageReport } from '../../../../src/server/features/usage/report.ts';
import { COUNTED_MAX, createUsage } from '../../../../src/server/features/usage/usage.ts';
import { readTabs } from '../../../../src/server/graphql/documents/tabs.ts';
import { createCallLog } from '../../../../src/upstream/call-log.ts';
import type { UpstreamSession } from '../../../../src/upstream/upstream-session.ts';
import { alice, embedded, json, post } from '../../../support/embedded.ts';
import { runProgram, startProgram } from '../../../support/program.ts';
import { service } from '../../../support/service.ts';

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
const sum = (report: UsageReport, of: 'requests' | 'calls') =>
  report.operations.reduce((all, each) => all + each[of], 0);

test('the calls of all operations are those of the metric, whatever is sent', async () => {
  const { send, report, metric } = await counted();
  const pages = readTabs('operations');
  for (const { query, variables } of pages) await send(query, alice, variables);
  await Promise.all(pages.map(({ query, variables }) => send(query, {}, variables)));
  await send('{ first: book(id: "6082808") { heading: title } other: book(id: "nothing") { title } }');
  await send('{ ... @defer { top250(first: 3) { nodes { directors { name } } } } }', { accept: 'multipart/mixed' });
  const found = await report();
  expect(sum(found, 'calls')).toBe(await metric(calls));
  expect(sum(found, 'calls')).toBeGreaterThan(30);
  expect(sum(found, 'requests')).toBe(2 * pages.length + 2);
});

test('an operation is counted by its client and its version, and by its name if the operator has it', async () => {
  const { send, report } = await counted();
  const phone = (version: string) => ({ 'x-client-name': 'phone', 'x-client-version': version });
  const text = readFileSync('operations/book.graphql', 'utf8');
  const name = /query (\w+)/.exec(text)![1]!;
  const sent = { ...json, variables: { id: '6082808' } };
  await send(text, phone('7'), sent.variables);
  await send(text, phone('7'), sent.variables); // a stored response
  await send(text, phone('8'), sent.variables);
  await send('query Mine { top250(first: 2) { nodes { directors { name } } } }', {
    'apollographql-client-name': 'web',
    'apollographql-client-version': '1.2.0',
  });
  await send('{ viewer { isLoggedIn } }');
  const counts = (await report()).operations.map(({ last, calls, ...count }) => ({ ...count, isCalled: calls > 0 }));
  expect(counts).toEqual([
    { name, client: 'phone', version: '7', requests: 2, isCalled: true },
    { name, client: 'phone', version: '8', requests: 1, isCalled: false },
    { name: 'other', client: 'web', version: '1.2.0', requests: 1, isCalled: true },
    { name: 'other', client: 'unnamed', version: '', requests: 1, isCalled: false },
  ]);
});

test('names that clients choose are bounded, and no count is lost', () => {
  const usage = createUsage(() => false);
  const operation = { type: OperationTypeNode.QUERY, name: 'X' };
  const session = { callLog: createCallLog() } as UpstreamSession;
  const count = (name: string) =>
    usage.onEnd({ headers: { 'x-client-name': name }, operation, session, isStored: false });
  for (let sent = 0; sent < 5; sent++) count('real');
  for (let sent = 0; sent < 2 * COUNTED_MAX; sent++) count(`client ${sent}`);
  for (const name of ['\u0007', 'x'.repeat(65), ' ']) count(name);
  const report = usage.report();
  expect(report.operations.length).toBeLessThanOrEqual(COUNTED_MAX + 1);
  expect(report.operations.find(({ client }) => client === 'real')).toMatchObject({ name: 'other', requests: 5 });
  expect(sum(report, 'requests')).toBe(2 * COUNTED_MAX + 8);
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

const of = (last: string, more: object = {}) => ({
  ...{ name: 'Film', client: 'web', version: '1', requests: 3, calls: 1, last, ...more },
});
const [since, until] = ['2026-01-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'];

test('the command prints a table, by operation, in which no text of a client moves the cursor', () => {
  const operations = [
    of('2026-01-02T00:00:00.000Z'),
    of('2026-02-02T00:00:00.000Z', { client: 'phone', requests: 12, version: '' }),
    of('2026-02-02T00:00:00.000Z', { name: 'Book', client: '\u001b[2J' }),
  ];
  expect(printUsage({ since, until, operations })).toBe(`counted from ${since} to ${until}
operation  client       requests  calls  last
Book       \\u001b[2J 1  3         1      2026-02-02T00:00:00.000Z
Film       phone        12        1      2026-02-02T00:00:00.000Z
Film       web 1        3         1      2026-01-02T00:00:00.000Z
`);
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
  expect(out).toMatch(/^other {6}unnamed {2}8 {9}0 {6}\d{4}-/m);
  const asJson = await runProgram({}, ['usage', program.url, '--token-file', tokenFile, '--json']);
  expect(JSON.parse(asJson.out)).toMatchObject({ operations: [{ name: 'other', client: 'unnamed', requests: 8 }] });
  const without = await runProgram({}, ['usage', program.url]);
  expect([without.code, without.out]).toEqual([1, '']);
  expect(without.err).toContain('needs the token of USAGE_TOKEN');
  await program.stop();
  expect((await runProgram({}, ['usage', program.url])).err).toContain('cannot be reached');
});
