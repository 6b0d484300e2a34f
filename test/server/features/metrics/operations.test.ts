import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { json, reset, until } from '../../../support/hostile.ts';
import { startFacade } from '../../../support/start-facade.ts';

const incremental = { 'content-type': 'application/json', accept: 'multipart/mixed' };

/** A facade whose book 7 fails, and the operations and errors that it has counted. */
async function openFacade() {
  const facade = await startFacade();
  facade.books.behave((socket, received) =>
    received.path.startsWith('/v2/book/7') ? reset(socket, received) : json('{"id":"8","title":"x"}')(socket, received),
  );
  const counted = async () =>
    (await facade.metrics.text()).match(/^catalog_(?:operations|errors)_total\{.*$/gm)?.sort() ?? [];
  return { ...facade, counted };
}

const failedOnce = [
  'catalog_errors_total{code="UPSTREAM_UNAVAILABLE"} 1',
  'catalog_operations_total{type="query",outcome="errors"} 1',
];

describe('an operation that is delivered incrementally', () => {
  test.each([
    ['multipart/mixed', '{ __typename ... @defer { book(id: "7") { title } } }'],
    ['multipart/mixed; incrementalSpec=v0.2', '{ __typename ... @defer { book(id: "7") { title } } }'],
    ['text/event-stream', '{ __typename ... @defer { book(id: "7") { title } } }'],
    ['multipart/mixed', '{ nodes(ids: ["Book:7"]) @stream { id ... on Book { title } } }'],
  ])('is counted with the errors of all its parts: %s, %s', async (accept, query) => {
    const { url, counted } = await openFacade();
    const headers = { ...incremental, accept };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    expect(await response.text()).toContain('UPSTREAM_UNAVAILABLE');
    expect(await counted()).toEqual(failedOnce);
  });

  test('is counted as a success if no part failed', async () => {
    const { url, counted } = await openFacade();
    const query = '{ __typename ... @defer { book(id: "8") { title } } }';
    const response = await fetch(url, { method: 'POST', headers: incremental, body: JSON.stringify({ query }) });
    expect(await response.text()).toContain('"title":"x"');
    expect(await counted()).toEqual(['catalog_operations_total{type="query",outcome="ok"} 1']);
  });

  test('is counted after its last part', async () => {
    const { url, books, counted } = await openFacade();
    let answer = () => undefined as unknown;
    books.behave((socket, received) => (answer = () => reset(socket, received)));
    const query = '{ __typename ... @defer { book(id: "7") { title } } }';
    const response = await fetch(url, { method: 'POST', headers: incremental, body: JSON.stringify({ query }) });
    await until(() => books.requests.length === 1);
    expect(await counted()).toEqual([]);
    books.behave(reset);
    answer();
    await response.text();
    expect(await counted()).toEqual(failedOnce);
  });

  test.each([
    ['before its first part', '{ book(id: "7") { title } ... @defer { viewer { isLoggedIn } } }'],
    ['before its last part', '{ __typename ... @defer { book(id: "7") { title } } }'],
  ])('is counted once if the client leaves %s', async (_, query) => {
    const { url, books, counted } = await openFacade();
    books.behave(() => undefined);
    const sent = request(url, { method: 'POST', headers: incremental }).on('error', () => undefined);
    sent.end(JSON.stringify({ query }));
    await until(() => books.requests.length === 1);
    sent.destroy();
    await expect.poll(counted).toContainEqual(expect.stringContaining('catalog_operations_total'));
    const operations = (await counted()).filter((line) => line.startsWith('catalog_operations_total'));
    expect(operations).toEqual([expect.stringMatching(/ 1$/)]);
  });
});
