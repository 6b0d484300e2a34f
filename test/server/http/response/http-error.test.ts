import { readFileSync, readdirSync } from 'node:fs';
import { request as send } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { adviceByCode } from '../../../../client/src/errors.ts';
import { entries } from '../../../../src/config/settings.ts';
import { readConfig } from '../../../../src/config/read.ts';
import { helpUrlOf } from '../../../../src/server/http/response/http-error.ts';
import { codeGroups } from '../../../../src/engine/errors/codes.ts';
import { journey } from '../../../support/journey.ts';

const notes = codeGroups.flatMap(({ codes }) => Object.entries(codes));
const codes = notes.map(([code]) => code);

/** The sources of client errors, with those for codes of the service. The origin has its own, and settings have similar names. */
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(
    (file) => /^((engine|graph|server|upstream)\/.*|api\/errors)\.ts$/.test(file) && file !== 'engine/errors/codes.ts',
  )
  .map((file) => readFileSync(`src/${file}`, 'utf8'));

const settings = entries().map(([, { env }]) => env);

/** Uppercase words that are not our codes: of Node, of its HTTP parser, of undici, and of a directive. */
const foreign = /^(E[A-Z]{3,}|E[A-Z]+_[A-Z]+|ERR_\w+|HPE_\w+|UND_ERR_\w+)$/;

describe('the table of error codes', () => {
  test('contains every code that is emitted', () => {
    const words = sources.flatMap((source) => [
      ...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g),
      ...source.matchAll(/\bcode: '(\w+)'/g),
    ]);
    const emitted = new Set(
      words
        .map(([, word]) => word!)
        .filter((word) => codes.includes(word) || !(foreign.test(word) || settings.includes(word))),
    );
    expect(emitted.size).toBeGreaterThan(60);
    expect([...emitted].filter((code) => !codes.includes(code))).toEqual([]);
  });

  test('contains no code that is never emitted, and none twice', () => {
    expect(codes.filter((code) => !sources.some((source) => source.includes(`'${code}'`)))).toEqual([]);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test('refers to settings, codes and methods that exist', () => {
    const known = [...settings, ...codes, 'GET', 'POST'];
    const references = notes.flatMap(([, { what, client, operator }]) => [
      ...`${what} ${client} ${operator ?? ''}`.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g),
    ]);
    expect(references.length).toBeGreaterThan(30);
    const names = references.map(([, name]) => name!);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe.each([
  ['without HELP_URL', undefined, '/docs/errors'],
  ['with HELP_URL', 'https://help.example/catalog/errors/', 'https://help.example/catalog/errors'],
])('the help link of an error, %s', async (_, helpUrl, page) => {
  const setup = await journey(helpUrl === undefined ? {} : { helpUrl });
  const help = (code: string) => `${page}#${code}`;
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${setup.facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const firstOf = async (response: Response) => {
    const { errors } = (await response.json()) as { errors: { extensions: Record<string, unknown> }[] };
    return errors[0]!.extensions;
  };

  const read = '{ note(id: "1") { title } }';
  const write = 'mutation { deleteNote(input: { id: "1" }) { deletedId } }';
  test.each([
    ['on the fast path', 'LOGIN_REQUIRED', () => post({ query: write })],
    ['on the fast path, a second time', 'LOGIN_REQUIRED', () => post({ query: write })],
    ['through Yoga', 'LOGIN_REQUIRED', () => post({ query: write, extensions: {} })],
    ['of an invalid document', 'GRAPHQL_VALIDATION_FAILED', () => post({ query: '{ nope }' })],
    [
      'of an exceeded limit',
      'TOO_MANY_ROOT_FIELDS',
      () => post({ query: `{ ${'viewer { isLoggedIn } '.repeat(31)} }` }),
    ],
    ['of a plan', 'PLANNED_NOT_RUN', () => post({ query: '{ viewer { isLoggedIn } }' }, { 'x-explain': 'plan' })],
    ['of a malformed request', 'BAD_REQUEST', () => post('{')],
    ['of a query by GET', 'LOGIN_REQUIRED', () => fetch(`${setup.facade.url}/graphql?query=${encodeURI(read)}`)],
    ['of a mutation by GET', 'BAD_REQUEST', () => fetch(`${setup.facade.url}/graphql?query=${encodeURI(write)}`)],
    ['of an unknown path', 'NOT_FOUND', () => fetch(`${setup.facade.url}/nowhere`)],
  ] as const)('%s', async (_, code, execute) => {
    expect(await firstOf(await execute())).toMatchObject({ code, advice: adviceByCode[code], help: help(code) });
  });

  test('of a stored response to a write with an idempotency key', async () => {
    const query = 'mutation { deleteNote(input: { id: "999999" }) { deletedId } }';
    const headers = { authorization: 'Bearer demo-bob', 'idempotency-key': `"${page}-a-key-of-16"` };
    const sent = await firstOf(await post({ query }, headers));
    expect(sent).toMatchObject({ code: 'NOTE_NOT_FOUND', help: help('NOTE_NOT_FOUND') });
    const again = await post({ query }, headers);
    expect([again.headers.get('idempotency-replayed'), await firstOf(again)]).toEqual(['true', sent]);
  });

  test.each(['multipart/mixed', 'text/event-stream'])(
    'in a later part of an incremental response: %s',
    async (accept) => {
      const query = 'query ($id: ID!) { ... @defer { note(id: $id) { title } } viewer { isLoggedIn } }';
      const response = await post({ query, variables: { id: '1' } }, { accept });
      expect(await response.text()).toContain(`"help":"${help('LOGIN_REQUIRED')}"`);
    },
  );

  test('in the response to malformed HTTP', async () => {
    const socket = connect(setup.facade.port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
    expect(await text(socket)).toContain(`"help":"${help('BAD_REQUEST')}"`);
  });

  test('has nothing of the Host of a request, for its sender and for the next client', async () => {
    const body = JSON.stringify({ query: '{ otherNope }' });
    const headers = { 'content-type': 'application/json', host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    const hostile = await new Promise<string>((resolve, reject) => {
      const sent = send(`${setup.facade.url}/graphql`, { method: 'POST', headers }, (got) => resolve(text(got)));
      sent.on('error', reject).end(body);
    });
    const next = await (await post(body)).text();
    for (const response of [hostile, next]) {
      expect(response).toContain(`"help":"${help('GRAPHQL_VALIDATION_FAILED')}"`);
      expect(response).not.toContain('evil.example');
    }
  });

  test('leads to a page of the facade that loads nothing else', async () => {
    const response = await fetch(`${setup.facade.url}/docs/errors`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const page = await response.text();
    for (const code of codes) expect(page).toContain(`<h3 id="${code}">`);
    expect(page).not.toMatch(/(src|href)="(?!#)/);
    expect((await fetch(response.url, { method: 'POST' })).status).toBe(405);
  });
});

test('a prepared error has the help link of the facade that sends it', async () => {
  const facades = [await journey({ helpUrl: 'https://a.example/errors' }), await journey()];
  const helpOf = async ({ execute }: (typeof facades)[number]) => {
    const { errors } = await execute('{ viewer { isLoggedIn } }', { headers: { 'x-explain': 'plan' } });
    return errors![0]!.extensions.help;
  };
  const links = ['https://a.example/errors#PLANNED_NOT_RUN', '/docs/errors#PLANNED_NOT_RUN'];
  for (let round = 0; round < 2; round++) expect(await Promise.all(facades.map(helpOf))).toEqual(links);
});

test.each([
  [{}, 'http://127.0.0.1:4000/docs/errors'],
  [{ HOST: '::1', PORT: '80' }, 'http://[::1]:80/docs/errors'],
  [{ PORT: '0' }, undefined], // it is known only later
  [{ HOST: '0.0.0.0' }, undefined],
  [{ TRUSTED_PROXIES: '127.0.0.1' }, undefined],
  [{ NODE_ENV: 'production' }, undefined],
  [{ NODE_ENV: 'production', MCP_URL: 'https://api.example/catalog/mcp' }, 'https://api.example/docs/errors'],
  [{ HELP_URL: 'https://b.example/e', MCP_URL: 'https://api.example/mcp' }, 'https://b.example/e'],
])('the address of the page of errors by %j is %j', (env, address) => {
  expect(helpUrlOf(readConfig(env))).toBe(address);
});

test('help links are absolute where settings tell the address, whatever the header Host says', async () => {
  const { execute } = await journey({ mcpUrl: 'https://api.example/mcp' });
  const { errors } = await execute('{ book(id: "no id") { title } }', {
    headers: { 'x-forwarded-host': 'evil.example' },
  });
  expect(errors![0]!.extensions.help).toBe('https://api.example/docs/errors#BAD_USER_INPUT');
});

test.each([
  ['operationName', 5],
  ['operationName', ['A']],
  ['variables', 'x'],
  ['variables', []],
  ['extensions', 5],
  ['documentId', 5],
])('a parameter of a wrong type is an invalid request: %s %j', async (name, value) => {
  const { facade } = await journey();
  const response = await fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { isLoggedIn } }', [name]: value }),
  });
  const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
  expect([response.status, errors.map(({ extensions }) => extensions.code)]).toEqual([400, ['BAD_REQUEST']]);
});

test('an unknown value of x-explain is rejected before anything runs', async () => {
  const setup = await journey();
  const { response, calls } = await setup.cost('{ book(id: "6082808") { title } }', {
    headers: { 'x-explain': 'plann' },
  });
  expect([response.errors?.[0]?.extensions.code, response.data, calls]).toEqual(['BAD_EXPLAIN', undefined, 0]);
});
