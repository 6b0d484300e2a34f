import { expect, test } from 'vitest';
import { alice, settingsFor } from '../support/embedded.ts';
import { service } from '../support/service.ts';
import { embed } from './run.ts';

const { url } = await service();
const options = { ...settingsFor(url), onLog: undefined };

test('fields of an extension are read, priced, cached and found by node as the others are', async () => {
  const explained = (query: string, how: string) => ({ query, headers: { 'x-explain': how } });
  const [answered] = await embed({
    extension: 'shelf',
    options,
    asked: [
      explained('{ book(id: "6082808") { shout label place { row room } } }', 'trace'),
      explained('{ searchBooks(query: "a", first: 5) { nodes { place { row } } } }', 'plan'),
      explained('{ rooms(first: 1) { id } }', 'plan'),
      { query: '{ book(id: "6082808") { label } }', isGet: true },
      { query: '{ book(id: "6082808") { place { row } } }', isGet: true },
      { query: '{ rooms(first: 1) { id } node(id: "Room:2") { id ... on Room { sourceId } } }', headers: alice },
    ],
  });
  const { answers } = answered as Extract<typeof answered, { answers: unknown }>;
  const [traced, plan, free, label, place, rooms] = answers;
  // Members of the record are requested together; an ordinary resolver may be asynchronous.
  expect(traced!.body.data).toEqual({
    book: { shout: '百年孤独', label: '百年孤独 9787544253994', place: { row: 3, room: 'room 9787544253994' } },
  });
  expect(traced!.body.extensions!.upstream).toMatchObject({
    calls: [{ path: '/v2/book/6082808', fields: 'id,isbn13,title', field: 'book' }],
  });
  // The calls of an ordinary resolver are in the price, for each item of a list.
  expect(plan!.body.extensions!.upstream).toMatchObject({
    max: 11,
    services: { catalog: { max: 1 }, resolvers: { min: 0, likely: 10, max: 10 } },
    fields: [
      { coordinate: 'Query.searchBooks' },
      { coordinate: 'Book.place', endpoint: 'resolver Book.place', max: 10 },
    ],
  });
  expect(free!.body.extensions!.upstream).toMatchObject({ max: 0 });
  // What a resolver has read that makes calls of its own is in no shared cache.
  expect(label!.caching).toMatch(/^public, max-age=/);
  expect(place!.caching).toBe('private, no-cache');
  expect(rooms!.body.data).toEqual({ rooms: [{ id: 'Room:1' }], node: { id: 'Room:2', sourceId: '2' } });
});

test('the facade tells the price of fields of an extension, which its own limits reject', async () => {
  const [answered] = await embed({
    extension: 'shelf',
    options: { ...options, maxUpstreamCalls: 5 },
    asked: [{ query: '{ searchBooks(query: "a", first: 5) { nodes { place { row } } } }' }],
    priced: [
      'query Shelf { book(id: "6082808") { place { row } } }',
      '{ searchBooks(query: "a", first: 5) { nodes { place { row } } } }',
      '{ book(id: "6082808") { shelf } }',
    ],
  });
  const { answers, prices } = answered as Extract<typeof answered, { answers: unknown }>;
  expect(prices).toMatchObject([
    { operation: 'Shelf', errors: [], cost: { calls: { most: 3 } }, mostExpensive: { coordinate: 'Book.place' } },
    { errors: [{ code: 'TOO_MANY_CALLS', coordinate: 'Book.place' }], cost: { calls: { likely: 11, most: 11 } } },
    { errors: [{ code: 'GRAPHQL_VALIDATION_FAILED' }], cost: null },
  ]);
  expect(answers[0]!.body.errors).toMatchObject(prices[1]!.errors.map(({ message }) => ({ message })));
});

test('a resolver that is selected twice runs twice, and its calls are likely twice', async () => {
  const query = '{ book(id: "6082808") { a: place { row } b: place { row } c: place { row } } }';
  const tooMany = { body: { errors: [{ extensions: { code: 'TOO_MANY_CALLS', limit: 5 } }] } };
  const [answered] = await embed({
    extension: 'shelf',
    options: { ...options, maxUpstreamCalls: 5 },
    asked: [{ query }],
    priced: [query],
  });
  expect(answered).toMatchObject({
    answers: [tooMany],
    prices: [{ errors: [{ code: 'TOO_MANY_CALLS' }], cost: { calls: { likely: 7, most: 7 } } }],
  });
});

test('a resolver of the program with maxCalls runs for each caller: its response is neither stored nor public', async () => {
  const asked = ['{ turn book(id: "6082808") { title } }', '{ book(id: "6082808") { turn } }'].flatMap((query) => [
    ...[false, false, true, true].map((isGet) => ({ query, isGet })),
  ]);
  for (const isAtOnce of [false, true]) {
    const [answered] = await embed({ extension: 'shelf', options, asked, isAtOnce });
    const { answers } = answered as Extract<typeof answered, { answers: unknown }>;
    const read = answers.map(({ body: { data } }) => JSON.stringify(data).match(/"turn":(\d+)/)![1]);
    expect(new Set(read).size).toBe(asked.length);
    const caching = answers.flatMap((answer, at) => (asked[at]!.isGet ? [answer.caching] : []));
    expect(caching).toEqual(Array(4).fill('private, no-cache'));
  }
});

test('a resolver with arguments on a record gets the members that it needs, or none', async () => {
  const query = '{ book(id: "6082808") { greeting(who: "Ann") dedication(who: "Ben") } }';
  const [answered] = await embed({
    extension: 'shelf',
    options,
    asked: [{ query, headers: { 'x-explain': 'trace' } }],
  });
  const { answers } = answered as Extract<typeof answered, { answers: unknown }>;
  expect(answers[0]!.body).toMatchObject({
    data: { book: { greeting: 'Hello Ann', dedication: '百年孤独, for Ben' } },
    extensions: { upstream: { calls: [{ fields: 'id,title' }] } },
  });
});

test('an error of a resolver has a code, and the log has those that the program did not give one', async () => {
  const [answered] = await embed({
    extension: 'shelf',
    options: { ...options, logLevel: 'error' },
    isLogged: true,
    asked: [{ query: '{ noNumber sold coded: sold(code: "SOLD") }' }],
  });
  const { answers, log = '' } = answered as Extract<typeof answered, { answers: unknown }>;
  const internal = { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) as string };
  expect(answers[0]!.body.errors).toMatchObject([
    { path: ['noNumber'], extensions: internal },
    { path: ['sold'], message: 'It is sold.', extensions: internal },
    { path: ['coded'], message: 'It is sold.', extensions: { code: 'SOLD' } },
  ]);
  const logged = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(logged).toMatchObject([{ coordinate: 'Query.noNumber' }, { coordinate: 'Query.sold' }]);
});

test('a process has one extension: its facades have the same, and those without have the schema of the catalog', async () => {
  const asked = [{ query: '{ book(id: "6082808") { shout } }' }];
  const [plain, extended, again, other, plainAgain] = await embed(
    { options, asked },
    { extension: 'shelf', options, asked },
    { extension: 'shelf', options, asked },
    { extension: 'loud', options },
    { options, asked },
  );
  const unknown = { answers: [{ body: { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] } }] };
  expect(plain).toMatchObject(unknown);
  expect(extended).toMatchObject({ answers: [{ body: { data: { book: { shout: '百年孤独' } } } }] });
  expect(again).toEqual(extended);
  expect(other).toEqual({ problems: [expect.stringContaining('types are declared once for a process')] });
  expect(plainAgain).toMatchObject(unknown);
});

test('fields that do not say what they cost are refused at the start, all by name, with what to do', async () => {
  const problems = [
    'maxCalls of Book.half must be a whole number from 0',
    expect.stringMatching(/^Book\.silent has a resolver of its own and does not say what it costs: .* set maxCalls/),
  ];
  const silent = { extension: 'silent', options } as const;
  expect(await embed(silent, silent)).toEqual([{ problems }, { problems }]);
});

test('misspelt options, and members that a record has not, are refused at the start, all by name', async () => {
  const problems = [
    'Book.spine: titel is no member. Did you mean title?',
    'Book.jacket: maxCals is not an option. Did you mean maxCalls?',
    'Book.jacket(size:): requird is not an option. Did you mean required?',
    'Shed: descripton is not an option. Did you mean description?',
  ];
  expect(await embed({ extension: 'misspelt', options })).toEqual([{ problems: expect.arrayContaining(problems) }]);
});

test.each([
  ['loud', 'Book.loud reads its record and does not say what: use t.computed.'],
  ['later', 'extend must not be asynchronous'],
  ['text', 'extend must be a function of the builder'],
] as const)('an extension that cannot be used is refused at the start: %s', async (extension, problem) => {
  expect(await embed({ extension, options })).toEqual([{ problems: [expect.stringContaining(problem)] }]);
});
