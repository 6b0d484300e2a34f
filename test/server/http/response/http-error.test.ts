import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { entries } from '../../../../src/config/settings.ts';
import { codeGroups } from '../../../../src/graph/errors/codes.ts';
import { journey } from '../../../support/journey.ts';

const notes = codeGroups.flatMap(({ codes }) => Object.entries(codes));
const codes = notes.map(([code]) => code);

/** The sources of client errors, with those for codes of the service. The origin has its own, and settings have similar names. */
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /^((graph|server|upstream)\/.*|api\/errors)\.ts$/.test(file) && file !== 'graph/errors/codes.ts')
  .map((file) => readFileSync(`src/${file}`, 'utf8'));

/** Uppercase words that are not our codes: of Node, of its HTTP parser, of undici, and of a directive. */
const foreign = /^(E[A-Z]{3,}|E[A-Z]+_[A-Z]+|ERR_\w+|HPE_\w+|UND_ERR_\w+)$/;

describe('the table of error codes', () => {
  test('contains every code that is emitted', () => {
    const words = sources.flatMap((source) => [
      ...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g),
      ...source.matchAll(/\bcode: '(\w+)'/g),
    ]);
    const emitted = new Set(
      words.map(([, word]) => word!).filter((word) => !foreign.test(word) || codes.includes(word)),
    );
    expect(emitted.size).toBeGreaterThan(60);
    expect([...emitted].filter((code) => !codes.includes(code))).toEqual([]);
  });

  test('contains no code that is never emitted, and none twice', () => {
    expect(codes.filter((code) => !sources.some((source) => source.includes(`'${code}'`)))).toEqual([]);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test('refers to settings, codes and methods that exist', () => {
    const known = [...entries().map(([, { env }]) => env), ...codes, 'GET', 'POST'];
    const references = notes.flatMap(([, { what, client, operator }]) => [
      ...`${what} ${client} ${operator ?? ''}`.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g),
    ]);
    expect(references.length).toBeGreaterThan(30);
    const names = references.map(([, name]) => name!);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the help link of an error', async () => {
  const setup = await journey();
  const help = (code: string) => `/docs/errors#${code}`;
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
    ['of a mutation by GET', 'BAD_REQUEST', () => fetch(`${setup.facade.url}/graphql?query=${encodeURI(write)}`)],
    ['of an unknown path', 'NOT_FOUND', () => fetch(`${setup.facade.url}/nowhere`)],
  ] as const)('%s', async (_, code, execute) => {
    expect(await firstOf(await execute())).toMatchObject({ code, help: help(code) });
  });

  test('in a later part of an incremental response', async () => {
    const query = 'query ($id: ID!) { ... @defer { note(id: $id) { title } } viewer { isLoggedIn } }';
    const response = await post({ query, variables: { id: '1' } }, { accept: 'multipart/mixed' });
    expect(await response.text()).toContain(`"help":"${help('LOGIN_REQUIRED')}"`);
  });

  test('in the response to malformed HTTP', async () => {
    const socket = connect(setup.facade.port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
    expect(await text(socket)).toContain(`"help":"${help('BAD_REQUEST')}"`);
  });

  test('leads to a page of the facade that loads nothing else', async () => {
    const response = await fetch(setup.facade.url + help(''));
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const page = await response.text();
    for (const code of codes) expect(page).toContain(`<h3 id="${code}">`);
    expect(page).not.toMatch(/(src|href)="(?!#)/);
    expect((await fetch(setup.facade.url + help(''), { method: 'POST' })).status).toBe(405);
  });
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
