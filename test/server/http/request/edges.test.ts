/** Each limit of what a request sends, just met and passed by one. */
import { expect, test } from 'vitest';
import { hostile, json } from '../../../support/hostile.ts';
import { replica } from '../../../support/replica.ts';

const service = await hostile(json('{"count":20,"start":0,"total":0,"books":[]}'));
const url = `${(await replica(service.url, { maxBodyBytes: '9000' })).url}/graphql`;
const post = (body: BodyInit, headers = {}, more = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body, ...more });
const textOf = (bytes: number) => JSON.stringify({ query: '{ __typename }' }).padEnd(bytes);
const inChunks = (text: string) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < text.length; at += 500) controller.enqueue(Buffer.from(text.slice(at, at + 500)));
      controller.close();
    },
  });
const codeOf = async (response: Response) =>
  ((await response.json()) as { errors?: { extensions: { code: string } }[] }).errors?.[0]?.extensions.code ?? 'OK';
const search = (size: number) =>
  JSON.stringify({ query: `{ searchBooks(query: "${'𝄞'.repeat(size)}") { nodes { id } } }` });
const searching = async (size: number) => codeOf(await post(search(size)));
const write = JSON.stringify({ query: 'mutation { likeNote(input: { id: "7" }) { note { id } } }' });
const withKey = async (size: number) => {
  const code = await codeOf(await post(write, { authorization: 'Bearer a', 'idempotency-key': 'k'.repeat(size) }));
  return code === 'BAD_IDEMPOTENCY_KEY' ? code : 'OK'; // the service has no note
};
const withId = async (size: number) => {
  const id = 'r'.repeat(size);
  return (await post(textOf(0), { 'x-request-id': id })).headers.get('x-request-id') === id ? 'OK' : 'another';
};

test.each<[what: string, met: number, passed: number, send: (size: number) => Promise<string>, code: string]>([
  ['bytes of a body with its length', 9_000, 9_001, async (size) => codeOf(await post(textOf(size))), 'BODY_TOO_LARGE'],
  [
    'bytes of a body in chunks',
    9_000,
    9_001,
    async (size) => codeOf(await post(inChunks(textOf(size)), {}, { duplex: 'half' })),
    'BODY_TOO_LARGE',
  ],
  ['characters of a search', 1_000, 1_001, searching, 'BAD_USER_INPUT'],
  ['characters of an X-Request-Id', 64, 65, withId, 'another'],
  ['the most characters of an Idempotency-Key', 255, 256, withKey, 'BAD_IDEMPOTENCY_KEY'],
  ['the least characters of an Idempotency-Key', 16, 15, withKey, 'BAD_IDEMPOTENCY_KEY'],
])('%s: %i are taken, %i are not', async (_, met, passed, send, code) => {
  expect([await send(met), await send(passed)]).toEqual(['OK', code]);
});
