import { readFileSync } from 'node:fs';
import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { startFacade, codesIn } from '../support/start-facade.ts';
import {
  type Behaviour,
  response,
  drip,
  hostile,
  inTurn,
  json,
  titledX,
  reset,
  silence,
  until,
  xml,
} from '../support/hostile.ts';
import { everyNth } from '../support/optional.ts';
import { service } from '../support/service.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

const book = '{ book(id: "7") { title } }';
const event = '{ event(id: "7") { title } }';
const note = '{ note(id: "7") { title } }';
const collect = 'mutation { collectBook(input: { bookId: "7", status: READ }) { collection { status } } }';
const withToken = { headers: { authorization: 'Bearer caller' } };
/** Short timeouts, only for a service that does not respond. */
const impatient = { headersTimeoutMs: '500' };
const deep = (depth: number) => `{"id":"7","title":"x","tags":${'['.repeat(depth)}${']'.repeat(depth)}}`;

test.each<[string, Behaviour, string]>([
  [
    'HTML with status 200',
    response(200, 'text/html', '<!doctype html><title>Login</title>'),
    'UPSTREAM_INVALID_RESPONSE',
  ],
  ['truncated JSON', json('{"id":"7","title":"x'), 'UPSTREAM_INVALID_RESPONSE'],
  ['an empty body with status 200', json(''), 'UPSTREAM_INVALID_RESPONSE'],
  ['a list where a record should be', json('[{"id":"7"}]'), 'UPSTREAM_INVALID_RESPONSE'],
  ['a bare number', json('7'), 'UPSTREAM_INVALID_RESPONSE'],
  ['JSON as deep as its size allows', json(deep(1_900_000)), 'UPSTREAM_INVALID_RESPONSE'],
  ['JSON slightly too deep', json(deep(64)), 'UPSTREAM_INVALID_RESPONSE'],
  ['a 404 in HTML', response(404, 'text/html', '<h1>Not found</h1>'), 'UPSTREAM_UNAVAILABLE'],
  ['a redirect', json('', 302, { location: 'http://127.0.0.1:9/' }), 'UPSTREAM_INVALID_RESPONSE'],
  ['status 500', json('oops', 500), 'UPSTREAM_UNAVAILABLE'],
  ['status 503', json('', 503), 'UPSTREAM_UNAVAILABLE'],
  ['connections reset', reset, 'UPSTREAM_UNAVAILABLE'],
  ['no response', silence, 'UPSTREAM_TIMEOUT'],
  ['a 401', json('{"msg":"invalid_access_token","code":103,"request":"GET /v2/book/7"}', 401), 'UNAUTHENTICATED'],
  ['a 403 without a body', json('', 403), 'UPSTREAM_UNAVAILABLE'],
])('a book answered with %s fails alone, with its code', async (_, behaviour, code) => {
  const { books, execute, logged } = await startFacade(behaviour === silence ? impatient : {});
  books.behave(behaviour);
  const result = await execute(book, withToken);
  expect([result.data, codesIn(result)]).toEqual([{ book: null }, [code]]);
  expect(logged.join()).not.toContain('a field failed');
});

test('JSON within the depth limit is read', async () => {
  const { books, execute } = await startFacade();
  books.behave(json(deep(60)));
  expect((await execute(book)).data).toEqual({ book: { title: 'x' } });
});

const entry = (inside: string) =>
  `<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/7</id><title>t</title>${inside}</entry>`;
const lol = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');

test.each<[string, Buffer | string]>([
  ['a DOCTYPE', `<!DOCTYPE entry>${entry('')}`],
  ['an entity bomb', `<!DOCTYPE x [<!ENTITY l0 "lol">${lol}]>${entry('<summary>&l9;</summary>')}`],
  [
    'an entity that names a file',
    `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]>${entry('<summary>&f;</summary>')}`,
  ],
  ['deep nesting', entry('<a>'.repeat(100_000) + '</a>'.repeat(100_000))],
  ['an element that is never closed', entry('<summary>')],
  ['HTML', '<!doctype html><html><body>down for maintenance<br></body></html>'],
  ['an empty body', ''],
  ['JSON', '{"id":"7"}'],
  ['the wrong root', '<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title></feed>'],
  ['a body beyond the limit', entry(`<summary>${'x'.repeat(2_000_000)}</summary>`)],
])('an event answered with %s is an invalid response', async (_, body) => {
  const { events, execute } = await startFacade();
  events.behave(xml(body));
  const result = await execute(event);
  expect([result.data, codesIn(result)]).toEqual([{ event: null }, ['UPSTREAM_INVALID_RESPONSE']]);
});

test('if one of two services is down, fields of the other work, and the circuit breaker stops calls to the first', async () => {
  const { books, events, execute } = await startFacade({
    ...impatient,
    breakerFailures: '3',
    breakerPauseMs: '60000',
    maxBreakerPauseMs: '60000',
  });
  books.behave(json('{"id":"7","title":"活着"}'));
  events.behave(silence);
  const page = '{ book(id: "7") { title } event(id: "7") { title } }';
  for (let n = 0; n < 5; n++) {
    const result = await execute(page);
    expect(result.data).toEqual({ book: { title: '活着' }, event: null });
    expect(codesIn(result)).toEqual([n < 3 ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE']);
    if (n < 3) continue;
    const { retryAfter } = result.errors![0]!.extensions as { retryAfter: number };
    expect(retryAfter).toBeGreaterThan(30);
    expect(retryAfter).toBeLessThanOrEqual(60);
  }
  expect(events.requests).toHaveLength(3);
  expect(books.requests).toHaveLength(5);
});

test('after an outage the calls of one operation are tried, and no others: its fields succeed or fail together', async () => {
  const { books, execute } = await startFacade({
    ...{ breakerFailures: '1', breakerPauseMs: '20', maxBreakerPauseMs: '20', readAttempts: '1' },
  });
  const fields = Array.from({ length: 12 }, (_, n) => `f${n}: book(id: "${n}") { title }`).join(' ');
  const pause = () => new Promise((resolve) => setTimeout(resolve, 30));
  for (let round = 0; round < 3; round++) {
    books.behave(reset);
    expect(codesIn(await execute(book))).toEqual(['UPSTREAM_UNAVAILABLE']);
    await pause();
    const sent = books.requests.length;
    expect(codesIn(await execute(`{ ${fields} }`))).toEqual(Array<string>(12).fill('UPSTREAM_UNAVAILABLE'));
    expect(books.requests.length).toBe(sent + 12);
    await pause();
    const held: (() => void)[] = [];
    books.behave((socket, request) => void held.push(() => titledX(socket, request)));
    const tried = execute(`{ ${fields} }`);
    await until(() => held.length === 12);
    expect(codesIn(await execute('{ book(id: "another") { title } }'))).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(held).toHaveLength(12);
    for (const respond of held) respond();
    expect(codesIn(await tried)).toEqual([]);
  }
});

test('a service that recovers after a long outage is used again', async () => {
  const { books, execute } = await startFacade({
    breakerFailures: '2',
    breakerPauseMs: '20',
    maxBreakerPauseMs: '40',
    readAttempts: '1',
  });
  books.behave(reset);
  const end = Date.now() + 600;
  while (Date.now() < end) {
    expect(codesIn(await execute(book))).toEqual(['UPSTREAM_UNAVAILABLE']);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  expect(books.requests.length).toBeLessThan(40); // one in each pause
  books.behave(json('{"id":"7","title":"x"}'));
  await expect.poll(async () => (await execute(book)).data.book).toEqual({ title: 'x' });
});

test.each<[string, Behaviour, string]>([
  ['ends with a connection reset', reset, 'UPSTREAM_RESULT_UNKNOWN'],
  ['gets no response', silence, 'UPSTREAM_RESULT_UNKNOWN'],
  ['gets a 504', json('', 504), 'UPSTREAM_RESULT_UNKNOWN'],
  ['gets a 502 with a body', json('{"code":1,"msg":"x"}', 502), 'UPSTREAM_RESULT_UNKNOWN'],
  ['gets a 500', json('oops', 500), 'UPSTREAM_RESULT_UNKNOWN'],
  ['gets a 500 with a code', json('{"code":999,"msg":"x"}', 500), 'UPSTREAM_RESULT_UNKNOWN'],
  ['gets a 503', json('', 503), 'UPSTREAM_RESULT_UNKNOWN'],
  ['gets a 503 with a code', json('{"code":999,"msg":"x"}', 503), 'UPSTREAM_UNAVAILABLE'],
  ['gets a 429', json('', 429), 'RATE_LIMITED'],
  ['gets a rate limit code', json('{"code":112,"msg":"x"}', 503), 'RATE_LIMITED'],
  ['gets a 403 with a code', json('{"code":6002,"msg":"x"}', 403), 'NOT_OWNER'],
  ['gets a 403', json('', 403), 'FORBIDDEN'],
])('a write that %s is sent once', async (_, behaviour, code) => {
  const { books, execute } = await startFacade(behaviour === silence ? impatient : {});
  books.behave(behaviour);
  expect(codesIn(await execute(collect, withToken))).toEqual([code]);
  expect(books.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('an operation ends at its deadline, and the fields it waited for report a timeout', async () => {
  const { books, events, execute, logged } = await startFacade({ operationTimeoutMs: '300' });
  books.behave(silence);
  events.behave(drip('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n<', ' '));
  const result = await execute('{ book(id: "7") { title } event(id: "7") { title } }');
  expect(result.data).toEqual({ book: null, event: null });
  expect(codesIn(result)).toEqual(['UPSTREAM_TIMEOUT', 'UPSTREAM_TIMEOUT']);
  expect(logged).toEqual([]);
  await until(() => [books, events].every(({ ended, requests }) => ended() >= requests.length));
});

test('tokens are sent to the configured services only, and are in no log, error or metric', async () => {
  const elsewhere = await hostile();
  const { books, events, execute, facade, logged } = await startFacade({ logLevel: 'trace' });
  const token = 'secret-Of-The-Caller';
  const headers = { authorization: `Bearer ${token}` };
  books.behave(
    inTurn(
      json(`{"msg":"${token}","code":1,"request":"${token}"}`, 400),
      json('', 307, { location: elsewhere.url }),
      reset,
    ),
  );
  events.behave(xml(`<wrong>${token}</wrong>`));
  const found = [];
  for (const query of [book, event, note, book, collect]) found.push(await execute(query, { headers }));
  expect(books.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
  expect(elsewhere.requests).toEqual([]);
  const metrics = await (await fetch(`${facade.url}/metrics`)).text();
  for (const text of [JSON.stringify(found), metrics, logged.join('\n')]) expect(text).not.toContain(token);
});

// Every field of every record with every wrong type: the fields that read it may fail, with a code.
const wrongValues = [
  'null',
  '0',
  '-1',
  '1e308',
  '1.5',
  '""',
  '"x"',
  '"\\u0000"',
  'true',
  '[]',
  '[null]',
  '[[]]',
  '[{}]',
  '{}',
  '{"a":{"b":[]}}',
  '{"__proto__":{"x":1}}',
  `"${'9'.repeat(400)}"`,
];
const records: [type: string, path: string, token: 'demo-alice' | 'demo-app'][] = [
  ['Book', '/v2/book/6082808', 'demo-alice'],
  ['Subject', '/v2/movie/subject/1292052', 'demo-alice'],
  ['Celebrity', '/v2/movie/celebrity/1054395', 'demo-alice'],
];

test.each(records)('a %s with missing or wrongly typed fields still gives a response', async (type, path, token) => {
  const origin = await service();
  const real = await (await fetch(origin.url + path, { headers: { authorization: `Bearer ${token}` } })).json();
  expect(Object.keys(real).length).toBeGreaterThan(5);
  const { books, execute, logged } = await startFacade();
  const query = `{ node(id: "${type}:7") { ... on ${type} { ${selectionOf(schema.getType(type) as GraphQLObjectType)} } } }`;
  const codes = new Set<unknown>();
  let shown = 0;
  for (const wrong of [...wrongValues, undefined]) {
    const members = Object.keys(real).filter((name) => name !== 'id');
    const lies = members.map((name) => (wrong === undefined ? '' : `,${JSON.stringify(name)}:${wrong}`)).join('');
    books.behave(json(`{"id":"7"${lies}}`));
    const result = await execute(query, { headers: { authorization: `Bearer ${token}` } });
    for (const code of codesIn(result)) codes.add(code);
    expect(result.data, `${wrong}: ${JSON.stringify(result.errors)}`).toHaveProperty('node');
    if (result.data.node) shown++;
  }
  expect(codes).not.toContain('INTERNAL_SERVER_ERROR');
  expect(shown).toBeGreaterThan(wrongValues.length - 2); // a wrong value affects its field, not the record
  expect(logged).toEqual([]);
});

test('a feed of events with wrong texts and attributes still gives a response', async () => {
  const real = readFileSync(new URL('../fixtures/atom/event-oddities.xml', import.meta.url), 'utf8');
  const { events, execute, logged } = await startFacade();
  const query = `{ event(id: "7") { ${selectionOf(schema.getType('Event') as GraphQLObjectType)} } }`;
  for (const wrong of ['', 'x', '-1', '&#0;', '<b/>', '9'.repeat(400), '\u{1f600}']) {
    const texts = real.replace(/>[^<]+</g, `>${wrong}<`);
    const attributes = wrong.includes('<')
      ? texts
      : real.replace(/((?:href|startTime|endTime|valueString|name|term)=")[^"]*"/g, `$1${wrong}"`);
    for (const body of [texts, attributes]) {
      events.behave(xml(body));
      const result = await execute(query);
      expect(result.data).toHaveProperty('event');
      expect(codesIn(result)).not.toContain('INTERNAL_SERVER_ERROR');
    }
  }
  expect(logged).toEqual([]);
});

// Texts on which a backtracking regular expression would take seconds for each field.
const LONG = 50_000;
const longTexts: [what: string, text: string][] = [
  ['a URL with a space at its end', `http://${'a'.repeat(LONG)} .`],
  ['a URL of punctuation', `http://a${'.!/'.repeat(LONG / 3)}<`],
  ['letters', 'x'.repeat(LONG)],
  ['spaces', `x${' '.repeat(LONG)}x`],
  ['digits', `${'1'.repeat(LONG)}x`],
  ['unclosed tags', '[url="<图片1>$$[img=1'.repeat(LONG / 20)],
  ['malformed character references', '&#x&lt;&'.repeat(LONG / 8)],
];
const longRecords: [type: string, path: string][] = [
  ...records.map(([type, path]): [string, string] => [type, path]),
  ['Note', '/v2/note/244600001'],
];

/** Half of the texts for each type, and the others for the next type. */
const longTextsFor = (round: number) => everyNth(longTexts, 2, round);

test.each(longRecords)('a %s with long texts takes linear time', { timeout: 900_000 }, async (type, path) => {
  const origin = await service();
  const real = await (await fetch(origin.url + path, { headers: { authorization: 'Bearer demo-alice' } })).json();
  const { books, execute } = await startFacade();
  const query = `{ node(id: "${type}:7") { ... on ${type} { ${selectionOf(schema.getType(type) as GraphQLObjectType)} } } }`;
  const round = longRecords.findIndex(([each]) => each === type);
  await expectLinearTime(longTextsFor(round), async (text) => {
    const body = JSON.stringify({ ...everyText(real, text), id: '7' });
    if (body.length > 4_000_000) throw new Error('The texts are past the limit of an answer, so nothing reads them.');
    books.behave(json(body));
    const result = await execute(query, { headers: { authorization: 'Bearer demo-alice' } });
    expect(result.data.node, text.slice(0, 50)).not.toBeNull();
  });
});

test('an event with long texts takes linear time', { timeout: 900_000 }, async () => {
  const real = readFileSync(new URL('../fixtures/atom/event-oddities.xml', import.meta.url), 'utf8');
  const { events, execute } = await startFacade();
  const query = `{ event(id: "7") { ${selectionOf(schema.getType('Event') as GraphQLObjectType)} } }`;
  await expectLinearTime(longTextsFor(longRecords.length), async (text) => {
    const escaped = text
      .replaceAll('<', '&lt;')
      .replaceAll('"', '&quot;')
      .replaceAll(/&(?!lt;|quot;)/g, '&amp;');
    const body = real
      .replace(/>[^<\s][^<]*</g, `>${escaped}<`)
      .replace(/((?:href|startTime|endTime|name|term)=")[^"]*"/g, `$1${escaped}"`)
      .replace(/<a:id>[^<]*</, '<a:id>https://api.example/event/7<'); // otherwise it would be another event
    if (Buffer.byteLength(body) > 2_000_000) throw new Error('The texts are past the limit, so nothing reads them.');
    events.behave(xml(body));
    const result = await execute(query);
    expect(result.data.event, JSON.stringify(result.errors)?.slice(0, 200)).not.toBeNull();
  });
});

/** Compared with plain sentences of the same length, by the CPU time of this process: a machine may be busy. The best of three counts. */
async function expectLinearTime(texts: typeof longTexts, show: (text: string) => Promise<void>) {
  const best = async (text: string, isEnough = 0) => {
    let ms = Infinity;
    for (let turn = 0; turn < 3 && ms > isEnough; turn++) {
      const started = process.cpuUsage();
      await show(text);
      const { user, system } = process.cpuUsage(started);
      ms = Math.min(ms, (user + system) / 1_000);
    }
    return ms;
  };
  const limit = 20 * (await best('Nothing of note is here. '.repeat(LONG / 25))); // the slowest takes less than half of that
  for (const [what, text] of texts) expect(await best(text, limit), what).toBeLessThan(limit);
}

/** The same record with all texts replaced. */
function everyText(value: unknown, text: string): object {
  const changed = (inner: unknown): unknown => {
    if (typeof inner === 'string') return text;
    if (Array.isArray(inner)) return inner.slice(0, 1).map(changed);
    return typeof inner === 'object' && inner ? everyText(inner, text) : inner;
  };
  return Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, changed(inner)]));
}

/** All fields that can be selected without required arguments, two levels deep. */
function selectionOf(type: GraphQLObjectType, levels = 2): string {
  const fields = Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some(isRequiredArgument)) return [];
    const gives = getNamedType(field.type);
    if (isLeafType(gives)) return [field.name];
    if (!isObjectType(gives) || levels === 0) return [];
    const below = selectionOf(gives, levels - 1);
    return below ? [`${field.name} { ${below} }`] : [];
  });
  return fields.join(' ');
}
