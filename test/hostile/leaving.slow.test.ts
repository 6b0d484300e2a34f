// Clients that disconnect during the response: all resources of their request are released.
import { readFileSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { expect, test } from 'vitest';
import { made } from '../support/made.ts';
import { startFacade } from '../support/start-facade.ts';
import { expectAtRest } from '../support/atRest.ts';
import { json } from '../support/hostile.ts';
import { thorough } from '../support/optional.ts';

const boundary = 'x';
const part = (name: string, value: string, file = '') =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;

const post = (query: string, headers: string) => {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
const upload = (query: string) => {
  const operations = JSON.stringify({ query: `query ($f: Boolean) ${query}`, variables: { f: null } });
  const body = `${part('operations', operations)}${part('map', '{"0":["variables.f"]}')}${part('0', 'y'.repeat(500), '; filename="a.png"')}--${boundary}--\r\n`;
  return `POST /graphql HTTP/1.1\r\nhost: x\r\nx-graphql-csrf: 1\r\ncontent-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

const graphiql = JSON.parse(readFileSync(`${await made('graphiql')}/files.json`, 'utf8')) as Record<string, string>;

/** For each kind, the request whose response contains these fields of a book. */
const kinds: Record<string, (fields: string) => string> = {
  GET: (fields) => get(`/graphql?query=${encodeURIComponent(`{ book(id: 7) { ${fields} } }`)}`),
  POST: (fields) => post(`{ book(id: 7) { ${fields} } }`, ''),
  'POST with an unusual Accept': (fields) =>
    post(`{ book(id: 7) { ${fields} } }`, 'accept: application/json, image/png\r\n'),
  'incremental delivery': (fields) =>
    post(`{ book(id: 7) { id ... @defer { ${fields} } } }`, 'accept: multipart/mixed\r\n'),
  'server-sent events': (fields) =>
    post(`{ book(id: 7) { id ... @defer { ${fields} } } }`, 'accept: text/event-stream\r\n'),
  'a compressed response': (fields) => post(`{ book(id: 7) { ${fields} } }`, 'accept-encoding: br\r\n'),
  'compressed incremental delivery': (fields) =>
    post(`{ book(id: 7) { id ... @defer { ${fields} } } }`, 'accept: multipart/mixed\r\naccept-encoding: gzip\r\n'),
  'an upload': (fields) => upload(`{ book(id: 7) { ${fields} } }`),
  'a file of the GraphiQL page': () => get(`/graphql/assets/${graphiql['graphiql.js']}`, 'accept-encoding: gzip\r\n'),
};

/** Sends the request and disconnects at the first byte of the response. */
const leaveAtFirstByte = (port: number, request: string): Promise<void> =>
  new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1', () => void socket.write(request));
    socket.on('error', () => undefined);
    socket.once('data', () => socket.resetAndDestroy());
    socket.once('close', () => resolve());
  });

const book = (summary: string) => json(JSON.stringify({ id: '7', title: 'x', summary }));

test.each(Object.keys(kinds))(
  'a client that disconnects during a large response releases its slot: %s',
  async (kind) => {
    const { books, facade } = await startFacade({
      maxRunningOperations: '2',
      maxWaitingOperations: '100',
      maxResponseBytes: '100000000',
    });
    books.behave(book('活'.repeat(1_000_000)));
    const large = kinds[kind]!('a: summary b: summary c: summary d: summary e: summary f: summary');
    for (let turn = 0; turn < (thorough ? 3 : 1); turn++) await leaveAtFirstByte(facade.port, large);
    await expectAtRest(facade, { connections: true });
  },
);

/** Of every kind of request. */
const CLIENTS = thorough ? 2_000 : 400;

test(`after ${CLIENTS} clients that disconnected, with every kind of request, no resources are held`, async () => {
  const { books, facade, metrics } = await startFacade({ maxRunningOperations: '16', maxWaitingOperations: '64' });
  books.behave(book('活'.repeat(2_000)));
  const { 'a file of the GraphiQL page': file, ...others } = kinds;
  const requests = Object.values(others).map((kind) => kind('a: summary b: summary title'));
  let next = 0;
  const inTurn = async () => {
    while (next < CLIENTS) {
      const nth = next++;
      const isFile = nth % 100 === 0; // it has a megabyte
      await leaveAtFirstByte(facade.port, isFile ? file!('') : requests[nth % requests.length]!);
    }
  };
  await Promise.all(Array.from({ length: 40 }, inTurn));
  await expectAtRest(facade, { connections: true });
  const answered = CLIENTS - CLIENTS / 100; // the others got a file
  expect(await metrics.text()).toContain(`catalog_requests_total{path="/graphql",status="200"} ${answered}`);
  const after = await fetch(`${facade.url}/graphql?query={__typename}`);
  expect(await after.json()).toEqual({ data: { __typename: 'Query' } });
});
