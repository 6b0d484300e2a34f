import { describe, expect, test } from 'vitest';
import { acceptedTypes, checkAcceptable } from '../../../../src/server/http/request/accept.ts';
import { isAnsweredByFastPath } from '../../../clients/fastPath.ts';
import { startFacade } from '../../../support/start-facade.ts';
import { json } from '../../../support/hostile.ts';

const PLAIN = 'application/json';
const RESPONSE = 'application/graphql-response+json';
const OLDER = 'multipart/mixed; deferSpec=20220824';
const CURRENT = 'multipart/mixed; incrementalSpec=v0.2';
const UNNAMED = 'multipart/mixed';

/** The Accept header that each client sends by default, the type of a whole response, and that of a response with @defer. */
const clients: [client: string, accept: string | undefined, media: string, deferred: string][] = [
  [
    'Apollo iOS 2',
    'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json',
    RESPONSE,
    OLDER,
  ],
  ['Apollo iOS 1', 'multipart/mixed;boundary="graphql";deferSpec=20220824,application/json', PLAIN, OLDER],
  [
    'Apollo Kotlin 4 and 5',
    'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json',
    RESPONSE,
    OLDER,
  ],
  [
    'Apollo Kotlin 5 with the current format',
    'multipart/mixed;incrementalSpec=v0.2, application/graphql-response+json, application/json',
    RESPONSE,
    CURRENT,
  ],
  ['Apollo Kotlin 3', 'multipart/mixed; deferSpec=20220824, application/json', PLAIN, OLDER],
  ['Apollo Client 4', 'application/graphql-response+json,application/json;q=0.9', RESPONSE, RESPONSE],
  [
    'Apollo Client 4 with @defer',
    'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9',
    RESPONSE,
    OLDER,
  ],
  [
    'Apollo Client 4 with the current format',
    'multipart/mixed;incrementalSpec=v0.2,application/graphql-response+json,application/json;q=0.9',
    RESPONSE,
    CURRENT,
  ],
  ['Apollo Client 3', '*/*', PLAIN, UNNAMED],
  ['Apollo Client 3 with @defer', 'multipart/mixed;deferSpec=20220824,application/json', PLAIN, OLDER],
  [
    'urql 4 and 5',
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    RESPONSE,
    UNNAMED,
  ],
  ['Relay with fetch', '*/*', PLAIN, UNNAMED],
  ['react-relay-network-modern', '*/*', PLAIN, UNNAMED],
  ['Relay as its guide shows it', 'application/json', PLAIN, PLAIN],
  ['graphql-request', 'application/graphql-response+json, application/json', RESPONSE, RESPONSE],
  ['axios and Angular', 'application/json, text/plain, */*', PLAIN, PLAIN],
  ['jQuery', 'application/json, text/javascript, */*; q=0.01', PLAIN, PLAIN],
  ['Java', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', PLAIN, PLAIN],
  ['.NET, and every client that sends none', undefined, PLAIN, UNNAMED],
  ['curl', '*/*', PLAIN, UNNAMED],
];

test.each(clients)('%s gets its response on the fast path', async (_, accept, media) => {
  expect(acceptedTypes(accept).json).toBe(media);
  const headers: Record<string, string> = accept === undefined ? {} : { accept };
  expect(await isAnsweredByFastPath({ body: JSON.stringify({ query: '{ viewer { isLoggedIn } }' }), headers })).toBe(
    true,
  );
});

describe('over HTTP', async () => {
  const { url, books } = await startFacade();
  books.behave(json('{"id":"7","title":"a---b\\r\\n---\\r\\n--","pages":"9"}'));

  const send = (accept: string | undefined, body: object) => {
    const headers = { 'content-type': PLAIN, ...(accept !== undefined && { accept }) };
    return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const typeOf = (response: Response) =>
    response.headers
      .get('content-type')
      ?.replace('; charset=utf-8', '')
      .replace(/; boundary="[a-z0-9]{30,70}"/, '');

  test.each(clients)('%s can read a query, @defer and an unknown hash', async (_, accept, media, deferred) => {
    const plain = await send(accept, { query: '{ book(id: "7") { pages } }' });
    expect([plain.status, typeOf(plain)]).toEqual([200, media]);
    expect(await plain.json()).toEqual({ data: { book: { pages: '9' } } });

    const inParts = await send(accept, { query: '{ book(id: "7") { title ... @defer { pages } } }' });
    expect([inParts.status, typeOf(inParts)]).toEqual([200, deferred]);
    const text = await inParts.text();
    expect(text).toContain('"pages":"9"');
    expect(inParts.headers.get('x-accel-buffering')).toBe(deferred.startsWith('multipart') ? 'no' : null);

    const persistedQuery = { version: 1, sha256Hash: 'a'.repeat(64) };
    const unknown = await send(accept, { extensions: { persistedQuery } });
    expect([unknown.status, typeOf(unknown)]).toEqual([200, media]);
    expect(await unknown.json()).toMatchObject({ errors: [{ message: 'PersistedQueryNotFound' }] });
  });

  test('each response in parts has a boundary of its own, which no text can contain', async () => {
    const query = '{ book(id: "7") { title ... @defer { pages } } }';
    const responses = await Promise.all([1, 2].map(() => send('multipart/mixed', { query })));
    const boundaries = responses.map((each) => /boundary="(\w+)"/.exec(each.headers.get('content-type')!)![1]!);
    expect(new Set(boundaries).size).toBe(2);
    const pieces = (await responses[0]!.text()).split(`--${boundaries[0]}`);
    expect(pieces[0]).toBe('\r\n');
    expect(pieces.at(-1)).toBe('--\r\n');
    const bodies = pieces.slice(1, -1).map((piece) => {
      const [head, body] = piece.split('\r\n\r\n');
      expect(head).toContain(`Content-Length: ${Buffer.byteLength(body!.slice(0, -2))}`);
      return JSON.parse(body!) as { data?: { book: { title: string } }; hasNext: boolean };
    });
    expect(bodies[0]).toMatchObject({ data: { book: { title: 'a---b\r\n---\r\n--' } }, hasNext: true });
    expect(bodies.at(-1)).toMatchObject({ hasNext: false });
  });

  test.each([
    ['text/event-stream', 'text/event-stream'],
    ['text/event-stream;q=0.1, application/json', PLAIN],
    ['text/event-stream, multipart/mixed;q=0.5', 'text/event-stream'],
    ['application/json, multipart/mixed;q=0.1', PLAIN],
    ['application/json;q=0.5, multipart/mixed;q=0.5', UNNAMED],
    ['application/json;q=0.1, multipart/mixed;deferSpec=20220824;q=0.2', OLDER],
    ['application/json, multipart/*', PLAIN],
    ['multipart/*', UNNAMED],
    ['application/json;q=0.1, */*', RESPONSE],
    ['multipart/mixed;q=0, */*', PLAIN],
    ['multipart/mixed;deferSpec=20220824;q=0, multipart/mixed;incrementalSpec=v0.2', CURRENT],
  ])('with @defer, a client that accepts %s gets %s', async (accept, type) => {
    const response = await send(accept, { query: '{ book(id: "7") { title ... @defer { pages } } }' });
    expect(typeOf(response)).toBe(type);
    expect(response.headers.get('x-accel-buffering')).toBe(/^(?:multipart|text)/.test(type) ? 'no' : null);
    expect(await response.text()).toContain('"pages":"9"');
  });

  test('a client that accepts parts only gets a whole response as the only part, with its status', async () => {
    const whole = await send('multipart/mixed;deferSpec=20220824', { query: '{ book(id: "7") { pages } }' });
    expect([whole.status, typeOf(whole)]).toEqual([200, OLDER]);
    expect(await whole.text()).toContain('\r\n\r\n{"data":{"book":{"pages":"9"}}}\r\n--');
    const invalid = await send('multipart/mixed;deferSpec=20220824', { query: '{ nothing }' });
    expect([invalid.status, typeOf(invalid)]).toEqual([400, OLDER]);
  });

  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
  const JAVA = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2';
  test.each([
    [BROWSER, '', true],
    [BROWSER, '?query={__typename}&variables={}', true],
    ['text/html', '?query={__typename}', true],
    [JAVA, '', true],
    [JAVA, '?query={__typename}', false],
    ['text/html;q=0, */*', '?query={__typename}', false],
    ['application/json, text/html;q=0.1', '?query={__typename}', false],
    ['application/json, text/html', '', false],
    ['text/html, application/json', '', true],
    ['text/html;q=0.5, application/graphql-response+json;q=0.4', '', true],
    ['text/htmlx', '?query={__typename}', false],
    ['*/*', '', false],
  ])('a GET that accepts %s of /graphql%s is shown GraphiQL: %s', async (accept, search, isPage) => {
    const response = await fetch(url + search, { headers: { accept } });
    await response.text();
    expect(response.headers.get('content-type')!.startsWith('text/html')).toBe(isPage);
  });
});

test.each([
  ['application/*', PLAIN],
  ['APPLICATION/JSON', PLAIN],
  ['application/json;q=0.1,application/graphql-response+json', RESPONSE],
  ['application/json;q=0, */*', RESPONSE],
  ['application/json ; q=0.5 , */*;q=0.1', PLAIN],
  ['application/json;q=.2, application/graphql-response+json;q=.3', RESPONSE],
  ['application/json;charset=utf-8', PLAIN],
  ['application/graphql-response+json;charset=latin1, application/json', PLAIN],
  ['text/html,application/xhtml+xml,*/*;q=0.8', PLAIN],
  ['image/png', undefined],
  ['multipart/mixed', undefined],
  ['*/*;q=0', undefined],
])('a client that accepts %s gets %s', (accept, media) => {
  expect(acceptedTypes(accept).json).toBe(media);
});

test.each([
  ['multipart/mixed', '20220824'],
  ['multipart/mixed;deferSpec=20220824', '20220824'],
  ['text/event-stream', '20220824'],
  ['*/*', '20220824'],
  ['multipart/mixed;incrementalSpec=v0.2', 'v0.2'],
  ['multipart/mixed; incrementalSpec="v0.2", application/json', 'v0.2'],
  ['text/event-stream;incrementalSpec=v0.2', 'v0.2'],
  ['multipart/mixed;incrementalSpec=v0.2, multipart/mixed;deferSpec=20220824', 'v0.2'],
  ['multipart/mixed;incrementalSpec=v0.2;q=0.5, multipart/mixed;deferSpec=20220824', '20220824'],
  ['multipart/mixed;incrementalSpec=v9, multipart/mixed', '20220824'],
  ['multipart/mixed;incrementalSpec=v9', undefined],
  ['multipart/mixed;deferSpec=20990101, application/json', undefined],
  ['multipart/mixed;incrementalDeliverySpec=3283f8a, application/json', undefined],
  ['multipart/mixed;boundary=graphql;subscriptionSpec=1.0, application/json', undefined],
  ['application/json', undefined],
  ['multipart/mixed;q=0', undefined],
])('%s is delivered incrementally in the format %s', (accept, format) => {
  expect(acceptedTypes(accept).incremental?.format).toBe(format);
});

test.each(['', ' ', ',', ' , ,'])('a header without a range is as none: %j', (accept) => {
  expect(acceptedTypes(accept)).toEqual(acceptedTypes(undefined));
});

test('a client that accepts no supported media type is rejected', () => {
  expect(() => checkAcceptable(acceptedTypes('image/png, text/html'))).toThrow('Accept one of');
  expect(() => checkAcceptable(acceptedTypes('image/png, */*;q=0.1'))).not.toThrow();
});
