/** MIN_CLIENTS on a socket: releases that are too old are told so, before anything of their requests is read. */
import { describe, expect, test } from 'vitest';
import { isBelow, versionParts } from '../../../../src/server/features/min-clients/version.ts';
import { startFacade } from '../../../support/start-facade.ts';

describe('a version', () => {
  const below = (one: string, other: string) => isBelow(versionParts(one)!, versionParts(other)!);

  test.for([
    ['5.1', '5.2'],
    ['5.2', '5.10'],
    ['5.9.9', '5.10'],
    ['5', '5.0.1'],
    ['v4.99 (731)', '5.0-beta.1'],
    ['5.2', '5.123456789012345678'],
  ] as const)('%s is below %s', ([one, other]) => {
    expect(below(one, other)).toBe(true);
    expect(below(other, one)).toBe(false);
  });

  test.for([
    ['5.2', '5.2.0'],
    ['05.02', '5.2'],
    ['5.2-beta', '5.2'],
  ] as const)('%s is not below %s, nor above it', ([one, other]) => {
    expect([below(one, other), below(other, one)]).toEqual([false, false]);
  });

  test.for(['', 'latest', '-1', 'x5.2'])('%j has no parts', (text) => expect(versionParts(text)).toBeUndefined());
});

const env = {
  MIN_CLIENTS: 'ios:5.2, Android:5.0',
  CLIENT_UPDATE_URLS: 'ios=https://apps.example/catalog?id=1',
  MCP: 'on',
  CORS_ORIGINS: 'https://shop.example',
};
const { url, facade, books } = await startFacade({}, env);
const query = '{ __typename }';

const post = (headers: Record<string, string>, to = url, body: object | string = { query }) =>
  fetch(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const named = (name: string, version?: string) => ({
  'apollographql-client-name': name,
  ...(version !== undefined && { 'apollographql-client-version': version }),
});
describe('a client that is too old', () => {
  test('gets the code, the oldest version and the address, also for what is stored and for no GraphQL at all', async () => {
    expect((await post(named('web', '1.0'))).status).toBe(200); // the response is stored
    for (const body of [{ query }, '{', { query: '{' }]) {
      const response = await post(named('ios', '5.1.9'), url, body);
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({
        errors: [
          {
            message: 'This version of ios is too old: update it.',
            extensions: {
              code: 'CLIENT_TOO_OLD',
              advice: 'hide',
              minVersion: '5.2',
              update: 'https://apps.example/catalog?id=1',
              help: expect.stringMatching(/#CLIENT_TOO_OLD$/),
            },
          },
        ],
      });
    }
    expect(books.requests).toEqual([]);
  });

  test('gets it in place of a 304, and where no address is set without one', async () => {
    const get = (headers: Record<string, string>) =>
      fetch(`${url}?query=${encodeURIComponent(query)}`, {
        headers: { accept: 'application/graphql-response+json', 'x-graphql-csrf': '1', ...headers },
      });
    const etag = (await get({})).headers.get('etag')!;
    expect((await get({ 'if-none-match': etag, ...named('android', '5.0') })).status).toBe(304);
    const old = await get({ 'if-none-match': etag, ...named('android', '4.10') });
    expect(old.status).toBe(403);
    const [{ extensions }] = ((await old.json()) as { errors: [{ extensions: object }] }).errors;
    expect(extensions).toMatchObject({ code: 'CLIENT_TOO_OLD', minVersion: '5.0' });
    expect(extensions).not.toHaveProperty('update');
  });

  test('gets it at /mcp too, and a page of another origin can read it', async () => {
    const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const response = await post(named('IOS', '4'), `${facade.url}/mcp`, rpc);
    expect(await response.json()).toMatchObject({ error: { data: { code: 'CLIENT_TOO_OLD', minVersion: '5.2' } } });
    const page = await post({ ...named('ios', '4'), origin: 'https://shop.example' });
    expect(page.headers.get('access-control-allow-origin')).toBe('https://shop.example');
  });
});

test('a client of the oldest version, of a later one, or of another name is served', async () => {
  for (const headers of [named('ios', '5.2'), named('ios', '5.10'), named('android', '6'), named('web', '0.1')])
    expect(await (await post(headers)).json()).toEqual({ data: { __typename: 'Query' } });
});

test('a client without a version that can be compared is served', async () => {
  for (const headers of [{}, named('ios'), named('ios', 'latest')]) expect((await post(headers)).status).toBe(200);
});
