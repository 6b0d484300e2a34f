import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../../src/config/read.ts';
import { clientAddress } from '../../../../src/server/http/request/client-address.ts';
import { startFacade, codesIn } from '../../../support/start-facade.ts';
import { json, titledX } from '../../../support/hostile.ts';

const proxies = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8'];

const from = (remoteAddress: string | undefined, headers: IncomingMessage['headers'] = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

test.each<[what: string, peer: string | undefined, headers: IncomingMessage['headers'], client: string]>([
  ['there is no header', '10.0.0.1', {}, '10.0.0.1'],
  ['a proxy names it', '10.0.0.1', { 'x-forwarded-for': '192.0.2.7' }, '192.0.2.7'],
  ['several proxies name it', '10.0.0.1', { 'x-forwarded-for': '192.0.2.7, 10.2.2.2,10.0.0.9' }, '192.0.2.7'],
  ['the client has added others', '10.0.0.1', { 'x-forwarded-for': '1.1.1.1, 10.0.0.3, 192.0.2.7' }, '192.0.2.7'],
  ['the client has sent all', '192.0.2.7', { 'x-forwarded-for': '1.1.1.1' }, '192.0.2.7'],
  ['all are proxies', '10.0.0.1', { 'x-forwarded-for': '10.0.0.3, 10.0.0.2' }, '10.0.0.3'],
  ['it has a port', '10.0.0.1', { 'x-forwarded-for': '192.0.2.7:4711' }, '192.0.2.7'],
  ['it is an IPv6 address', 'fd00::1', { 'x-forwarded-for': '[2001:DB8::1]:4711' }, '2001:db8::1'],
  ['it is IPv4 in IPv6', '::ffff:10.0.0.1', { 'x-forwarded-for': '::ffff:192.0.2.7' }, '192.0.2.7'],
  ['it is not an address', '10.0.0.1', { 'x-forwarded-for': '1.1.1.1, unknown, 10.0.0.2' }, '10.0.0.2'],
  ['Forwarded names another', '10.0.0.1', { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=1.1.1.1' }, '192.0.2.7'],
  ['there is no address at all', undefined, { 'x-forwarded-for': '192.0.2.7' }, ''],
])('the client is the last hop that is not a trusted proxy, where %s', (_, peer, headers, client) => {
  expect(clientAddress(proxies)(from(peer, headers))).toBe(client);
});

test('without trusted proxies it is the peer of the connection', () => {
  expect(clientAddress([])(from('127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }))).toBe('127.0.0.1');
});

test('trusted proxies are addresses and ranges', () => {
  const read = (proxies: string) => readConfig({ TRUSTED_PROXIES: proxies }).trustedProxies;
  expect(read('10.0.0.1, 192.168.0.0/16,fd00::/8')).toEqual(['10.0.0.1', '192.168.0.0/16', 'fd00::/8']);
  expect(read('')).toEqual([]);
  for (const wrong of ['proxy', '10.0.0', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '*', '10.0.0.1;10.0.0.2'])
    expect(() => read(wrong)).toThrow(ConfigError);
});

test('clients behind a trusted proxy each have their own share of the film calls of the facade’s token', async () => {
  const { books, execute } = await startFacade({ trustedProxies: '127.0.0.1' });
  books.behave(json('{"subjects":[]}'));
  const search = (n: number, client: string) =>
    execute(`{ searchSubjects(query: "x${n}") { nodes { title } } }`, { headers: { 'x-forwarded-for': client } });
  for (let n = 0; n < 20; n++) expect((await search(n, '192.0.2.1')).errors).toBeUndefined();
  expect(codesIn(await search(20, '192.0.2.1'))).toEqual(['RATE_LIMITED']);
  expect((await search(21, '192.0.2.2')).errors).toBeUndefined();
});

test('one IPv6 network is one client, whichever of its addresses it uses, and however a proxy spells them', async () => {
  const { books, execute } = await startFacade({ trustedProxies: '127.0.0.1' });
  books.behave(json('{"subjects":[]}'));
  let calls = 0;
  const search = (client: string) =>
    execute(`{ searchSubjects(query: "x${++calls}") { nodes { title } } }`, { headers: { 'x-forwarded-for': client } });
  for (let n = 0; n < 5; n++)
    for (const client of [`2001:db8::${n + 1}`, `2001:DB8:0:0:${n}::`, `[2001:0db8::${n}:1]:80`, `2001:db8:0:0::a${n}`])
      expect((await search(client)).errors).toBeUndefined();
  const refused = await search('2001:db8::ffff');
  expect(codesIn(refused)).toEqual(['RATE_LIMITED']);
  expect(refused.errors![0]!.message).toBe('The share that this address may use of the rate limit is reached.');
  for (let n = 0; n < 20; n++) expect((await search('2001:db8:0:1::1')).errors).toBeUndefined();
  const all = await search('192.0.2.1');
  expect(all.errors![0]!.message).toBe('The rate limit of the service is reached.');
});

test('reloads count for the network of the client', async () => {
  const { books, facade } = await startFacade({ trustedProxies: '127.0.0.1', recordTtlSeconds: '60' });
  books.behave(titledX);
  const query = (n: number) => encodeURIComponent(`{ book(id: "${n}") { title } }`);
  const ask = async (n: number, client: string, headers: object = {}) =>
    (
      await fetch(`${facade.url}/graphql?query=${query(n)}`, { headers: { 'x-forwarded-for': client, ...headers } })
    ).text();
  for (let n = 0; n < 62; n++) await ask(n, '192.0.2.1');
  const before = books.requests.length;
  for (let n = 0; n < 61; n++) await ask(n, `2001:db8::${n}`, { 'cache-control': 'no-cache' });
  expect(books.requests.length - before).toBe(60);
});

test.each(['127.0.0.1', '10.0.0.1'])(
  'a proxy that is not trusted is told once, whatever HOST is, where TRUSTED_PROXIES is %s',
  async (trusted) => {
    const { facade, logged } = await startFacade({ trustedProxies: trusted });
    const ask = (headers: object) => fetch(`${facade.url}/graphql?query={__typename}`, { headers: { ...headers } });
    await ask({});
    expect(logged.filter((line) => line.includes('TRUSTED_PROXIES'))).toEqual([]);
    await ask({ 'x-forwarded-for': '192.0.2.1' });
    await ask({ 'x-forwarded-for': '192.0.2.2' });
    const told = logged.filter((line) => line.includes('X-Forwarded-For is not used'));
    expect(told).toHaveLength(trusted === '127.0.0.1' ? 0 : 1);
  },
);
