// 1xx responses, of which HTTP allows any number before the response.
import { expect, test } from 'vitest';
import type { TestFlags } from '../support/config.ts';
import { startFacade, codesIn } from '../support/start-facade.ts';
import { type Behaviour, drip, until, xml } from '../support/hostile.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

const book = '{ book(id: "7") { title } }';
const collect = 'mutation { collectBook(input: { bookId: "7", status: READ }) { collection { status } } }';
const withToken = { headers: { authorization: 'Bearer caller' } };

const body = '{"id":"7","title":"活着","status":"read"}';
const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n';

const expectedData = { book: { title: '活着' } };

test.each([
  ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['103 with hints', `${hint}\r\n`],
  // The headers of a 103 say nothing about the response.
  [
    '103 with headers of a body that never comes',
    `${hint}content-encoding: br\r\ncontent-length: 4000000000\r\nretry-after: 60\r\ncache-control: no-store\r\n\r\n`,
  ],
  ['an unknown 1xx status', 'HTTP/1.1 199 Whatever\r\n\r\n'],
  ['fifty 103 responses', `${hint}\r\n`.repeat(50)],
])('the response after %s is read, of reads and writes', async (_, before) => {
  const { books, execute, logged } = await startFacade();
  books.behave((socket) => {
    socket.write(before);
    setTimeout(() => socket.write(whole), 10);
  });
  expect(await execute(book)).toEqual({ data: expectedData });
  expect((await execute(collect, withToken)).data).toEqual({ collectBook: { collection: { status: 'READ' } } });
  books.behave((socket) => socket.write(before + whole)); // in one packet
  expect(await execute(book)).toEqual({ data: expectedData });
  // Not the number of connections: one that is idle for 4 s is closed, and a stalled machine takes that long.
  expect(books.requests).toHaveLength(3);
  expect(logged).toEqual([]);
});

const noResponses: [name: string, behaviour: Behaviour, read: string, attempts: number, hurry?: TestFlags][] = [
  // No `expect` was sent, so this is unexpected. What follows is not read.
  ['100', (socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${whole}`), 'UPSTREAM_UNAVAILABLE', 3],
  [
    '101 and another protocol',
    (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n\x81\0'),
    'UPSTREAM_UNAVAILABLE',
    3,
  ],
  [
    '101 that names no protocol',
    (socket) => socket.write(`HTTP/1.1 101 X\r\n\r\n${whole}`),
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
  ['103 and the end of the connection', (socket) => socket.end(`${hint}\r\n`), 'UPSTREAM_UNAVAILABLE', 3],
  ['103 and silence', (socket) => socket.write(`${hint}\r\n`), 'UPSTREAM_TIMEOUT', 1, { headersTimeoutMs: '500' }],
  // Each one restarts the timeout of the headers, but not that of the call.
  ['103 without end', drip(`${hint}\r\n`, `${hint}\r\n`, 5), 'UPSTREAM_TIMEOUT', 1, { callTimeoutMs: '900' }],
  ['103 whose headers have no end', drip(hint, 'x-a: b\r\n', 5), 'UPSTREAM_TIMEOUT', 1, { headersTimeoutMs: '500' }],
  [
    '103 with headers that are too large',
    (socket) => socket.write(`${hint}x-a: ${'b'.repeat(40_000)}\r\n\r\n${whole}`),
    'UPSTREAM_INVALID_RESPONSE',
    1,
  ],
];

test.each(noResponses)(
  '%s instead of a response is an error, in time',
  async (_, behaviour, code, attempts, settings) => {
    const { books, execute, close, logged } = await startFacade(settings);
    books.behave(behaviour);
    const read = await execute(book);
    expect([read.data, codesIn(read)]).toEqual([{ book: null }, [code]]);
    expect(books.requests).toHaveLength(attempts);

    const written = await execute(collect, withToken);
    expect(codesIn(written)).toEqual(['UPSTREAM_RESULT_UNKNOWN']);
    expect(books.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(logged).toEqual([]);
    await close();
    await until(() => books.open() === 0);
  },
);

const many = `${hint}x-a: ${'b'.repeat(10_000)}\r\n\r\n`.repeat(5);
const flood = drip(many, many, 1);

test('an endless series of 103 responses does not delay other calls', async () => {
  const { books, events, execute } = await startFacade({ readAttempts: '1' });
  books.behave(flood);
  events.behave(xml('<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/7</id><title>t</title></entry>'));
  let isDone = false;
  const pending = execute(book).finally(() => (isDone = true));
  await until(() => books.requests.length === 1);
  expect((await execute('{ event(id: "7") { title } }')).data).toEqual({ event: { title: 't' } });
  expect(isDone).toBe(false);
  books.hangUp();
  expect(codesIn(await pending)).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test('an endless series of 103 responses ends with the timeout of the call', async () => {
  const { books, execute, close } = await startFacade({ callTimeoutMs: '900' });
  books.behave(flood);
  expect(codesIn(await execute(book))).toEqual(['UPSTREAM_TIMEOUT']);
  await close();
  await until(() => books.open() === 0);
});
