// Bytes that are not UTF-8, and lone surrogates: they are rejected, because they would be stored as U+FFFD silently.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPercentEncoding, checkSurrogates } from '../../src/server/http/request/body.ts';
import { startFacade, codesIn } from '../support/start-facade.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { json } from '../support/hostile.ts';
import { service } from '../support/service.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

const { books, url } = await startFacade();
books.behave(json('{"id":"7","title":"x"}'));
const authorization = 'Bearer x';

async function send(init: RequestInit, query = '') {
  books.requests.length = 0;
  const response = await fetch(url + query, { method: 'POST', ...init });
  return {
    status: response.status,
    codes: codesIn((await response.json()) as GraphQLResponse),
    calls: books.requests.length,
  };
}
const rejection = { status: 400, codes: ['INVALID_TEXT'], calls: 0 };

const collect = 'mutation ($input: CollectBookInput!) { collectBook(input: $input) { created } }';
const annotate = 'mutation ($input: CreateAnnotationInput!) { createAnnotation(input: $input) { annotation { id } } }';
const read = 'query ($text: String!) { searchBooks(query: $text) { totalCount } }';
const readById = 'query ($text: ID!) { book(id: $text) { id } }';

/** Replaces MARK by these bytes. */
const withBytes = (text: string, bytes: number[]) =>
  Buffer.concat(
    text.split('MARK').flatMap((part, nth) => (nth ? [Buffer.from(bytes), Buffer.from(part)] : [Buffer.from(part)])),
  );

const invalidBytes: [name: string, bytes: number[]][] = [
  ['a byte of Latin-1', [0xe9]],
  ['a truncated character', [0xe4, 0xb8]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['half a surrogate pair', [0xed, 0xa0, 0x80]],
  ['GBK', [0xd6, 0xd0, 0xce, 0xc4]],
];
const halves = ['\\ud83d', '\\uDE00', '\\ud83d\\ud83d\\ude00', '\\\\\\udc00', 'a\\uDBFF\\u0041'];

describe.each(invalidBytes)('%s', (_, bytes) => {
  const percent = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

  test.each(['application/json', 'application/graphql+json'])('is rejected in a body of %s', async (type) => {
    for (const query of [collect, read, readById]) {
      const variables = { input: { bookId: '7', status: 'READ', comment: 'MARK' }, text: 'MARK' };
      const body = withBytes(JSON.stringify({ query, variables }), bytes);
      expect(await send({ body, headers: { 'content-type': type, authorization } })).toEqual(rejection);
    }
  });
  test('is rejected in a document', async () => {
    const body = withBytes('{ searchBooks(query: "MARK") { totalCount } }', bytes);
    const headers = { 'content-type': 'application/graphql', 'x-graphql-csrf': '1' };
    expect(await send({ body, headers })).toEqual(rejection);
  });
  test('is rejected in a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-graphql-csrf': '1' };
    const body = `query=${encodeURIComponent(read)}&variables=${encodeURIComponent('{"text":"MARK"}').replace('MARK', percent)}`;
    expect(await send({ body, headers })).toEqual(rejection);
  });
  test('is rejected in a GET', async () => {
    const query = `?query=${encodeURIComponent(read)}&variables=${encodeURIComponent('{"text":"MARK"}').replace('MARK', percent)}`;
    expect(await send({ method: 'GET' }, query)).toEqual(rejection);
  });
  test('is rejected in the operations of an upload', async () => {
    const variables = {
      input: { bookId: '7', content: `MARK${'一'.repeat(20)}`, pictures: [{ number: 1, file: null }] },
    };
    expect(await send(upload(withBytes(JSON.stringify({ query: annotate, variables }), bytes)))).toEqual(rejection);
  });
});

describe.each(halves)('%s in JSON', (half) => {
  const within = (text: string) => text.replaceAll('MARK', half);

  test.each([collect, read, readById])('is rejected in the variables of %s', async (query) => {
    const variables = { input: { bookId: 'MARK', status: 'READ', comment: 'MARK' }, text: 'MARK' };
    const body = within(JSON.stringify({ query, variables }));
    expect(await send({ body, headers: { 'content-type': 'application/json', authorization } })).toEqual(rejection);
  });
  test('is rejected in a GET', async () => {
    const query = `?query=${encodeURIComponent(read)}&variables=${encodeURIComponent(within('{"text":"MARK"}'))}`;
    expect(await send({ method: 'GET' }, query)).toEqual(rejection);
  });
  test('is rejected in the operations of an upload', async () => {
    const variables = { input: { bookId: '7', content: 'MARK', pictures: [{ number: 1, file: null }] } };
    expect(await send(upload(Buffer.from(within(JSON.stringify({ query: annotate, variables })))))).toEqual(rejection);
  });
});

test('valid text is accepted, including U+FFFD and escaped surrogate pairs', async () => {
  const content = `\ufffd𠮷 ${'一'.repeat(20)}`;
  books.behave(json('{"id":"9","book_id":"7","author_id":"1"}', 201));
  const input = { bookId: '7', content };
  const escaped = JSON.stringify({ query: annotate, variables: { input } }).replace('𠮷', '\\ud842\\udfb7\\\\ud800');
  expect(await send({ body: escaped, headers: { 'content-type': 'application/json', authorization } })).toEqual({
    status: 200,
    codes: [],
    calls: 1,
  });
  const operations = { query: annotate, variables: { input: { ...input, pictures: [{ number: 1, file: null }] } } };
  const sent = await send(upload(Buffer.from(JSON.stringify(operations))));
  expect([sent.status, sent.codes]).toEqual([200, []]);
});

test('a lone surrogate is found in JSON text if and only if its values contain one', () => {
  const piece = fc.constantFrom('\\ud83d', '\\uDE00', '\\\\', '\\n', '\\u0041', 'ud83d', '\\"', '😀', 'x');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = `"${pieces.join('')}"`;
      const isWhole = !/\p{Surrogate}/u.test(JSON.parse(text) as string);
      if (isWhole) expect(() => checkSurrogates(text)).not.toThrow();
      else expect(() => checkSurrogates(text)).toThrow();
    }),
  );
});

test('percent signs that encode nothing are accepted', () => {
  for (const text of ['100%', '%zz', '%2', 'a=%E4%B8%80&b=%20%F0%A0%AE%B7']) checkPercentEncoding(text);
});

test('the origin rejects invalid text too', async () => {
  const origin = await service();
  const post = async (body: BodyInit, type?: string) => {
    const headers = { authorization: 'Bearer demo-alice', ...(type && { 'content-type': type }) };
    const response = await fetch(`${origin.url}/v2/notes`, { method: 'POST', headers, body });
    return ((await response.json()) as { code?: number }).code;
  };
  for (const [, bytes] of invalidBytes) {
    expect(await post(withBytes('{"title":"MARK","content":"x"}', bytes), 'application/json')).toBe(999);
    const { body, headers } = upload(withBytes('MARK', bytes), 'title');
    expect(await post(body, headers['content-type'])).toBe(999);
    const percent = bytes.map((byte) => `%${byte.toString(16)}`).join('');
    expect(await post(`title=${percent}&content=x`, 'application/x-www-form-urlencoded')).toBe(999);
  }
  expect(await post('{"title":"\\ud800","content":"x"}', 'application/json')).toBe(999);
  const { body, headers } = upload(Buffer.from('题𠮷'), 'title');
  expect(await post(body, headers['content-type'])).toBe(1002); // only the content is missing
});

/** A form with these bytes as its first part. */
function upload(first: Buffer, name = 'operations') {
  const part = (head: string, bytes: Buffer | string) =>
    Buffer.concat([
      Buffer.from(`--B\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(bytes),
      Buffer.from('\r\n'),
    ]);
  const file = Buffer.alloc(300);
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').copy(file);
  const rest =
    name === 'operations'
      ? [part('name="map"', '{"0":["variables.input.pictures.0.file"]}'), part('name="0"; filename="a.png"', file)]
      : [];
  const body = new Uint8Array(Buffer.concat([part(`name="${name}"`, first), ...rest, Buffer.from('--B--\r\n')]));
  return { body, headers: { 'content-type': 'multipart/form-data; boundary=B', 'x-graphql-csrf': '1', authorization } };
}
