/** After the response to a mutation no client sees the state before it: facades with caches respond like one without. */
import { beforeAll, describe, expect, test } from 'vitest';
import { fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { thorough } from '../support/optional.ts';
import { directService, writeKinds } from '../support/keyed-writes.ts';
import { hasRedis, redisServer, until } from '../support/redis.ts';
import { type clientOf, replica } from '../support/replica.ts';
import { picture, service } from '../support/service.ts';
import { pictures, uploadForm } from '../support/upload.ts';

const [alice, bob] = ['demo-alice', 'demo-bob'];
const BOOK = '1003078';
const TAG = '只此一枚';
const readers: [who: string, token: string | undefined][] = [
  ['anonymous', undefined],
  ['the author', alice],
  ['another user', bob],
];

/** Ids that the steps collect for later ones. */
interface Known {
  person: string;
  isbn: string;
  series: string;
  city: string;
  annotation?: string;
  review?: string;
  note?: string;
  event?: string;
}
interface Step {
  name: string;
  input: (known: Known) => object;
  selection: string;
  /** Collects ids from the payload. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a payload of any mutation
  collect?: (payload: any, known: Known) => void;
  token?: string;
  pictures?: number[];
}

const book = `title rating { average ratersCount } tags(first: 50) { name count }`;
const collection = `status comment tagNames rating { value } book { sourceId tags { name count } }`;
const annotation = `id chapter content privacyLevel book { tags { name } }`;
const shelf = `bookCollections(first: 5) { totalCount nodes { ${collection} } } bookTags { nodes { name count } } annotations(first: 5) { totalCount nodes { ${annotation} } }`;
const shelves = ({ person, isbn, series, annotation: written }: Known) => `{
  book(id: "${BOOK}") {
    ${book} viewerCollection { ${collection} }
    byId: collection(userId: "${person}") { ${collection} } byUid: collection(userId: "alice") { ${collection} }
    annotations(first: 5, order: NEWEST) { totalCount nodes { ${annotation} } }
  }
  bookByIsbn(isbn: "${isbn}") { ${book} }
  tagged: searchBooks(tag: "${TAG}") { totalCount nodes { ${book} } }
  series: node(id: "${series}") { ... on Series { books { nodes { ${book} } } } }
  nodeById: node(id: "Collection:${person}:${BOOK}") { ... on Collection { ${collection} } }
  nodeByUid: node(id: "Collection:alice:${BOOK}") { ... on Collection { ${collection} } }
  byId: user(id: "${person}") { ${shelf} }
  byUid: user(id: "alice") { ${shelf} }
  another: user(id: "bob") { ${shelf} }
  ${written ? `annotation(id: "${written}") { ${annotation} html: content(format: HTML) } node(id: "${written}") { ... on Annotation { ${annotation} } }` : ''}
}`;

const note = 'id title content privacy likesCount commentsCount pictures { number }';
const notes = ({ person, note: written }: Known) => `{
  byId: user(id: "${person}") { notes(first: 5) { nodes { ${note} } } }
  byUid: user(id: "alice") { notes(first: 5) { nodes { ${note} } } }
  ${written ? `note(id: "${written}") { ${note} html: content(format: HTML_FULL) comments(first: 5) { totalCount nodes { content } } } node(id: "${written}") { ... on Note { ${note} } }` : ''}
}`;

const event = 'id title content participantsCount interestedPeopleCount viewerRelation';
const relations = ['INITIATED', 'PARTICIPATING', 'INTERESTED']
  .map((relation) => `${relation}: events(relation: ${relation}, first: 5) { totalCount nodes { ${event} } }`)
  .join(' ');
const agenda = `events(first: 5) { totalCount nodes { ${event} } } ${relations}`;
const events = ({ person, city, event: made }: Known) => `{
  byId: user(id: "${person}") { ${agenda} }
  byUid: user(id: "alice") { ${agenda} }
  another: user(id: "bob") { ${agenda} }
  city: node(id: "${city}") { ... on City { name events(first: 5) { totalCount nodes { ${event} } } } }
  search: searchEvents(query: "罕见的标题", first: 5) { totalCount nodes { ${event} } }
  ${made ? `event(id: "${made}") { ${event} participants { nodes { id } } interestedPeople { nodes { id } } } node(id: "${made}") { ... on Event { ${event} } }` : ''}
}`;

const content = '十六个字符以上的一段读书笔记，正好够长。';
const review = { title: '标题', content: '评'.repeat(151) };
const eventDraft = {
  title: '罕见的标题',
  type: 'SALON',
  content: '一',
  startsAt: '2031-12-18T19:30:00+08:00',
  endsAt: '2031-12-18T21:30:00+08:00',
  place: '某处',
};
const ofEvent = ({ event: id }: Known) => ({ id });
const ofNote = ({ note: id }: Known) => ({ id });

/** Every mutation, in an order in which each one changes something. */
const lifecycles: [what: string, read: (known: Known) => string, steps: Step[]][] = [
  [
    'shelves and annotations',
    shelves,
    [
      {
        name: 'collectBook',
        input: () => ({ bookId: BOOK, status: 'READ', rating: 5, tags: [TAG], comment: '好', isPrivate: false }),
        selection: 'created',
      },
      {
        name: 'updateCollection',
        input: () => ({ bookId: BOOK, status: 'READ', rating: 1, tags: [TAG], comment: '私', isPrivate: true }),
        selection: 'collection { comment }',
      },
      {
        name: 'replaceCollection',
        input: () => ({ bookId: BOOK, status: 'WISH', tags: [TAG], isPrivate: false }),
        selection: 'collection { comment }',
      },
      {
        name: 'createAnnotation',
        input: () => ({ bookId: BOOK, content, chapter: '一' }),
        selection: 'annotation { id }',
        collect: (payload, known) => (known.annotation = payload.annotation.id as string),
      },
      {
        name: 'updateAnnotation',
        input: ({ annotation: id }) => ({ id, content, chapter: '二', isPrivate: true }),
        selection: 'annotation { id }',
      },
      {
        name: 'replaceAnnotation',
        input: ({ annotation: id }) => ({ id, content, chapter: '三', isPrivate: false }),
        selection: 'annotation { id }',
      },
      { name: 'deleteAnnotation', input: ({ annotation: id }) => ({ id }), selection: 'deletedId' },
      { name: 'deleteCollection', input: () => ({ bookId: BOOK }), selection: 'book { id }' },
      {
        name: 'createReview',
        input: () => ({ bookId: BOOK, rating: 5, ...review }),
        selection: 'review { id }',
        collect: (payload, known) => (known.review = payload.review.id as string),
      },
      {
        name: 'replaceReview',
        input: ({ review: id }) => ({ id, ...review }),
        selection: 'review { id }',
      },
      { name: 'deleteReview', input: ({ review: id }) => ({ id }), selection: 'deletedId' },
    ],
  ],
  [
    'notes',
    notes,
    [
      {
        name: 'createNote',
        input: () => ({ title: '一', content: '二' }),
        selection: 'note { id }',
        collect: (payload, known) => (known.note = payload.note.id as string),
      },
      { name: 'likeNote', input: ofNote, selection: 'note { id }', token: bob },
      { name: 'unlikeNote', input: ofNote, selection: 'note { id }', token: bob },
      { name: 'addNotePictures', input: ofNote, selection: 'storedPictures', pictures: [1] },
      {
        name: 'updateNote',
        input: ({ note: id }) => ({ id, title: '新', privacy: 'PRIVATE' }),
        selection: 'note { id }',
      },
      {
        name: 'replaceNote',
        input: ({ note: id }) => ({ id, title: '旧', content: '二', privacy: 'PUBLIC', canReply: true }),
        selection: 'note { id }',
      },
      { name: 'deleteNote', input: ofNote, selection: 'deletedId' },
    ],
  ],
  [
    'events',
    events,
    [
      {
        name: 'createEvent',
        input: () => eventDraft,
        selection: 'event { id }',
        collect: (payload, known) => (known.event = payload.event.id as string),
      },
      { name: 'joinEvent', input: ofEvent, selection: 'event { id }', token: bob },
      { name: 'leaveEvent', input: ofEvent, selection: 'event { id }', token: bob },
      { name: 'addEventInterest', input: ofEvent, selection: 'event { id }', token: bob },
      { name: 'removeEventInterest', input: ofEvent, selection: 'event { id }', token: bob },
      {
        name: 'updateEvent',
        input: ({ event: id }) => ({ id, content: '二' }),
        selection: 'event { id }',
      },
      {
        name: 'replaceEvent',
        input: ({ event: id }) => ({ id, ...eventDraft, inviteOnly: true, canInvite: true }),
        selection: 'event { id }',
      },
      { name: 'deleteEvent', input: ({ event: id }) => ({ id, reason: '下雨' }), selection: 'deletedId' },
    ],
  ],
];

const mutations = schema.getMutationType()!.getFields();

/** Mutations that no lifecycle has: the write of their kind, and what shows it. */
const named = new Set(lifecycles.flatMap(([, , steps]) => steps.map(({ name }) => name)));
const otherKinds = writeKinds.filter(({ name }) => !named.has(name));

test('every mutation is covered', () => {
  const covered = [...named, ...otherKinds.map(({ name }) => name)];
  const forgotten = Object.keys(mutations).filter((name) => !covered.includes(name));
  expect(forgotten, 'missing in writeKinds of test/support/keyed-writes.ts').toEqual([]);
});

type Ask = ReturnType<typeof clientOf>;
interface Setup {
  /** Mutations are sent to the first. */
  facades: Ask[];
  /** It has no cache. */
  plain: Ask;
  known: Known;
  /** Of the service. */
  url: string;
}

const own = { accessToken: 'demo-app', filmTier: 'advance' };

async function setUp(open: (url: string) => Promise<Ask[]>): Promise<Setup> {
  const { url } = await service();
  const plain = await replica(url, { ...own, recordTtlSeconds: '0' });
  const { data } = await plain(
    `{ book(id: "${BOOK}") { isbn13 } series: book(id: "6082808") { series { id } } city: searchEvents(first: 1) { nodes { city { id } } } mine: user(id: "alice") { bookCollections(first: 1) { nodes { user { sourceId } } } } }`,
  );
  const known: Known = {
    person: data.mine.bookCollections.nodes[0].user.sourceId,
    isbn: data.book.isbn13,
    series: data.series.series.id,
    city: data.city.nodes[0].city.id,
  };
  return { facades: await open(url), plain, known, url };
}

async function write({ url }: Ask, step: Step, known: Known): Promise<GraphQLResponse> {
  const { name, selection, token = alice } = step;
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`;
  const { pictures: given, files } = pictures(step.pictures ?? [], () => picture('png', 200));
  const input = { ...step.input(known), ...(step.pictures && { pictures: given }) };
  return post(
    { url },
    step.pictures ? uploadForm(query, { input }, files) : JSON.stringify({ query, variables: { input } }),
    token,
  );
}

async function post({ url }: Pick<Ask, 'url'>, body: string | FormData, token: string): Promise<GraphQLResponse> {
  const headers = new Headers({ authorization: `Bearer ${token}`, 'x-graphql-csrf': '1' });
  if (typeof body === 'string') headers.set('content-type', 'application/json');
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
  return (await response.json()) as GraphQLResponse;
}

/** The result of a query for each reader. */
async function resultsFor(clients: typeof readers, execute: Ask, query: string) {
  const found = clients.map(async ([client, token]) => {
    const { data, errors } = await execute(query, token);
    return [client, { data, errors: errors?.map(({ path, extensions }) => [path, extensions.code]) }] as const;
  });
  return Object.fromEntries(await Promise.all(found)) as Record<string, unknown>;
}

/** The first of two replicas does all that one facade does. */
const deployments: [name: string, open: () => Promise<Setup>][] = [
  hasRedis
    ? [
        'two replicas over Redis',
        () =>
          setUp(async (url) => {
            const redisUrl = (await redisServer()).url;
            const pair = [await replica(url, { ...own, redisUrl }), await replica(url, { ...own, redisUrl })];
            await until(() => isCached(pair[1]!));
            return pair;
          }),
      ]
    : ['one facade', () => setUp(async (url) => [await replica(url, own)])],
];
/** Whether a record is served from the cache, which means that Redis is connected. */
async function isCached({ url }: Ask): Promise<boolean> {
  const headers = { 'content-type': 'application/json', 'x-explain': 'trace' };
  const body = JSON.stringify({ query: '{ book(id: "26356948") { title } }' });
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
  return (await response.text()).includes('"how":"cached"');
}

describe.each(deployments)('%s', (_, open) => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await open();
  });

  test.each(otherKinds)('no reader sees the state before $name, by what its kind shows', async (kind) => {
    const { facades, plain, known, url } = setup;
    const { body, shows } = await kind.prepare(directService(url, alice, known.person), 'a mark');
    expect(shows, 'the query that shows it is missing in writeKinds of test/support/keyed-writes.ts').toBeDefined();
    const before = await resultsFor(readers, plain, shows!);
    for (const facade of [...facades, ...facades]) expect(await resultsFor(readers, facade, shows!)).toEqual(before);
    const written = await post(facades[0]!, body(), alice);
    expect(written.errors).toBeUndefined();
    const after = await resultsFor(readers, plain, shows!);
    expect(after).not.toEqual(before);
    for (const facade of facades) expect(await resultsFor(readers, facade, shows!)).toEqual(after);
  });

  describe.each(lifecycles)('%s', (lifecycle, read, steps) => {
    // A sample is the author, and one of the others.
    const leftOut = lifecycles.findIndex(([name]) => name === lifecycle) % 2 ? 'anonymous' : 'another user';
    const tested = thorough ? readers : readers.filter(([who]) => who !== leftOut);
    const resultsOf = (execute: Ask, query: string) => resultsFor(tested, execute, query);
    let last: { query: string; after: Record<string, unknown> } | undefined;

    test.each(steps)('no reader sees the state before $name', { timeout: 300_000 }, async (step) => {
      const { facades, plain, known } = setup;
      // Every facade has cached the query that ended the last step; any other query is sent to the service first.
      const isCached = last?.query === read(known);
      const before = isCached ? last!.after : await resultsOf(plain, read(known));
      for (const facade of isCached ? facades : [...facades, ...facades])
        expect(await resultsOf(facade, read(known))).toEqual(before);

      const { data, errors } = await write(facades[0]!, step, known);
      expect(errors).toBeUndefined();
      const query = read(known);
      const after = await resultsOf(plain, query);
      const { invalidates } = fieldRule(mutations[step.name]!);
      if (invalidates !== 'nothing') expect(after).not.toEqual(before);
      for (const facade of facades) expect(await resultsOf(facade, query)).toEqual(after);
      last = { query, after };
      step.collect?.(data[step.name], known);
    });
  });
});
