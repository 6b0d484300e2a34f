import { expect, test } from 'vitest';
import { checkAcceptable, incrementalFormat, negotiateJson } from '../../../src/server/http/accept.ts';
import { isAnsweredByFastPath } from '../../clients/fastPath.ts';

const PLAIN = 'application/json';
const RESPONSE = 'application/graphql-response+json';

/** The Accept header that each client sends by default with a query. */
const clients: [client: string, accept: string | undefined, media: string][] = [
  ['Apollo Client', 'application/graphql-response+json,application/json;q=0.9', RESPONSE],
  ['Apollo Client 3', '*/*', PLAIN],
  [
    'Apollo Kotlin',
    'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json',
    RESPONSE,
  ],
  ['Apollo Kotlin 3', 'multipart/mixed; deferSpec=20220824, application/json', PLAIN],
  ['Apollo iOS', 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json', RESPONSE],
  ['Apollo iOS 1', 'multipart/mixed;boundary="graphql";deferSpec=20220824,application/json', PLAIN],
  [
    'urql',
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    RESPONSE,
  ],
  ['Relay with fetch', '*/*', PLAIN],
  ['Relay as its guide shows it', 'application/json', PLAIN],
  ['graphql-request', 'application/graphql-response+json, application/json', RESPONSE],
  ['axios', 'application/json, text/plain, */*', PLAIN],
  ['curl', '*/*', PLAIN],
  ['a client that sends none', undefined, PLAIN],
];

test.each(clients)('%s gets its response on the fast path', async (_, accept, media) => {
  expect(negotiateJson(accept)).toBe(media);
  const headers: Record<string, string> = accept === undefined ? {} : { accept };
  expect(await isAnsweredByFastPath({ body: JSON.stringify({ query: '{ viewer { isLoggedIn } }' }), headers })).toBe(
    true,
  );
});

test.each([
  ['application/*', PLAIN],
  ['APPLICATION/JSON', PLAIN],
  ['application/json;q=0.1,application/graphql-response+json', RESPONSE],
  ['application/json;q=0, */*', RESPONSE],
  ['application/json ; q=0.5 , */*;q=0.1', PLAIN],
  ['application/json;charset=utf-8', PLAIN],
  ['application/graphql-response+json;charset=latin1, application/json', PLAIN],
  ['text/html,application/xhtml+xml,*/*;q=0.8', PLAIN],
  ['image/png', undefined],
  ['multipart/mixed', undefined],
  ['*/*;q=0', undefined],
])('a client that accepts %s gets %s', (accept, media) => {
  expect(negotiateJson(accept)).toBe(media);
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
  ['application/json', undefined],
  ['multipart/mixed;q=0', undefined],
])('%s is delivered incrementally in the format %s', (accept, format) => {
  expect(incrementalFormat(accept)).toBe(format);
});

test('a client that accepts no supported media type is rejected', () => {
  expect(() => checkAcceptable('image/png, text/html')).toThrow('Accept one of');
  expect(() => checkAcceptable('image/png, */*;q=0.1')).not.toThrow();
});
