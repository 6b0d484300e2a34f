import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { directService } from '../../../support/keyed-writes.ts';
import { replica } from '../../../support/replica.ts';
import { service } from '../../../support/service.ts';

const LISTED = 'https://page.example';
let url: string;
let noteId: string;
beforeAll(async () => {
  const origin = await service();
  const direct = directService(origin.url, 'demo-alice', 'alice');
  noteId = (await direct.json('POST', '/v2/notes', { title: 't', content: 'c' })).id;
  ({ url } = await replica(origin.url, { corsOrigins: LISTED }));
});

const namesIn = (response: Response, header: string) => response.headers.get(header)?.split(', ') ?? [];

// A page's preflight names the header; the list must have it by itself too, since it is cached for other requests.
test.each(['content-type', 'content-type, idempotency-key'])(
  'a listed page whose preflight asks for %s may send a key, another page may not',
  async (asked) => {
    const preflight = (origin: string) =>
      fetch(`${url}/graphql`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
      });
    const listed = await preflight(LISTED);
    expect(listed.headers.get('access-control-allow-origin')).toBe(LISTED);
    expect(namesIn(listed, 'access-control-allow-headers')).toContain('idempotency-key');
    expect(namesIn(await preflight('https://other.example'), 'access-control-allow-headers')).toEqual([]);
  },
);

test('a listed page can read that a response is a repetition, another page cannot', async () => {
  const key = randomUUID();
  const body = JSON.stringify({ query: `mutation { likeNote(input: { id: "${noteId}" }) { note { id } } }` });
  const send = async (origin: string) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        origin,
        authorization: 'Bearer demo-alice',
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body,
    });
    const isExposed = namesIn(response, 'access-control-expose-headers').includes('idempotency-replayed');
    return [response.status, response.headers.get('idempotency-replayed'), isExposed];
  };
  expect(await send(LISTED)).toEqual([200, null, true]);
  expect(await send(LISTED)).toEqual([200, 'true', true]);
  expect((await send('https://other.example'))[2]).toBe(false);
});
