// What stands between facade and client: caches, compression and nginx.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { hasProgram } from '../../support/optional.ts';
import { startFacade } from '../../support/start-facade.ts';
import { startNginx } from '../../support/nginx.ts';
import { GRAPHQL } from './requirements.ts';

const facade = await startFacade({ readAttempts: '1', breakerFailures: '1000' });
const headers = { 'content-type': 'application/json', accept: GRAPHQL };

/** A result with errors that is long enough to be compressed, and a document that is not executed. */
const outcomes: [status: number, query: string][] = [
  [294, `{ book(id: "no id") { title } ${'a'.repeat(900)}: __typename b: __schema { types { name description } } }`],
  [422, `{ ${Array.from({ length: 28 }, (_, nth) => `nothing${nth}OfALongName`).join(' ')} }`],
];

async function sent(url: string, query: string, encoding: string) {
  const body = JSON.stringify({ query });
  const answer = await request(url, { method: 'POST', headers: { ...headers, 'accept-encoding': encoding }, body });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const used = answer.headers['content-encoding'];
  const text = used === 'br' ? brotliDecompressSync(bytes) : used === 'gzip' ? gunzipSync(bytes) : bytes;
  const parsed = JSON.parse(text.toString()) as { data?: unknown; errors?: unknown[] };
  return { status: answer.statusCode, type: answer.headers['content-type'], vary: answer.headers.vary, used, parsed };
}

describe.each(outcomes)('a response with %i', (status, query) => {
  test.each(['gzip', 'br'])('is compressed with %s', async (encoding) => {
    const plain = await sent(facade.url, query, 'identity');
    expect(plain).toMatchObject({ status, type: `${GRAPHQL}; charset=utf-8`, used: undefined });
    expect(await sent(facade.url, query, encoding)).toEqual({ ...plain, used: encoding });
  });

  test.skipIf(!hasProgram('nginx'))('passes nginx, which compresses it as it does others', async () => {
    const uncompressed = await startFacade({ compression: 'off' });
    for (const each of [facade, uncompressed]) {
      const url = `${await startNginx([each.url, each.url])}/graphql`;
      const direct = await sent(each.url, query, 'gzip');
      const through = await sent(url, query, 'gzip');
      expect(through).toMatchObject({ status, type: direct.type, parsed: direct.parsed });
      expect(String(through.vary)).toContain('Accept');
      expect(through.used ?? 'none').toBe(direct.used ?? 'none'); // nginx compresses 200, 403 and 404 alone
    }
  });

  test('has no ETag by GET, and nobody may store it', async () => {
    const { url } = facade;
    const answer = await request(`${url}?${new URLSearchParams({ query })}`, {
      headers: { accept: GRAPHQL, 'if-none-match': '*' },
    });
    await answer.body.dump();
    expect([answer.statusCode, answer.headers['cache-control'], answer.headers.etag]).toEqual([
      status,
      'no-store',
      undefined,
    ]);
  });
});

test('a response with 294 is not stored by the facade: the next request tries again', async () => {
  const { books, url } = facade;
  books.behave((socket) => socket.write('HTTP/1.1 500 Broken\r\ncontent-length: 0\r\n\r\n'));
  for (const calls of [1, 2]) {
    const answer = await sent(url, '{ book(id: "1") { title } }', 'identity');
    expect([answer.status, books.requests.length]).toEqual([294, calls]);
  }
});

test('294 has a reason, for clients and logs that show it', async () => {
  const body = JSON.stringify({ query: outcomes[0]![1] });
  expect((await fetch(facade.url, { method: 'POST', headers, body })).statusText).toBe('Partial Success');
});
