import {
  type GraphQLOutputType,
  Kind,
  type SelectionSetNode,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { readTabs } from '../../src/server/graphql/documents/tabs.ts';
import { lists } from '../support/example-records.ts';
import { journey } from '../support/journey.ts';

type Setup = Awaited<ReturnType<typeof journey>>;
let setup: Setup;
beforeAll(async () => {
  setup = await journey();
});

const alice = { token: 'demo-alice' };
const bob = { token: 'demo-bob' };
const carol = { token: 'demo-carol' };
const codesOf = ({ errors }: { errors?: { extensions: Record<string, unknown> }[] }) =>
  (errors ?? []).map(({ extensions }) => extensions.code);

describe('the operations', () => {
  // `explain` is meant to be planned, not run; what is deleted or replaced is made and changed first.
  const isLate = (name: string) => /^(?:delete|replace)/.test(name);
  const pages = readTabs('operations')
    .filter(({ name }) => name !== 'explain')
    .sort((one, other) => Number(isLate(one.name)) - Number(isLate(other.name)));

  test.each(pages)('$name runs without an error, with data at every level', async ({ query: text, variables }) => {
    const answer = await setup.execute(text, { ...alice, variables });
    expect(answer.errors).toBeUndefined();
    // An unlimited tier has no rate budget, nobody rates a book that is still to be read, and nothing was removed before the first sync.
    const mayBeEmpty = ['viewer.rateBudget', 'user.wish.nodes.*.rating', 'user.shelfChanges.removedIds'];
    expect(emptyPositions(text, answer.data).filter((place) => !mayBeEmpty.includes(place))).toEqual([]);
  });

  test('are at least ten', () => {
    expect(pages.length).toBeGreaterThanOrEqual(10);
  });
});

describe('the list', () => {
  const known: Record<string, string> = {};
  beforeAll(async () => {
    const { data } = await setup.execute(
      '{ bookByIsbn(isbn: "9787544253994") { series { sourceId } } user(id: "alice") { notes(first: 50) { nodes { sourceId commentsCount } } } searchEvents(first: 50) { nodes { sourceId participantsCount interestedPeopleCount } } }',
      alice,
    );
    known.SERIES = data.bookByIsbn.series.sourceId;
    known.NOTE = most(data.user.notes.nodes as NoteNode[], ({ commentsCount }) => commentsCount).sourceId;
    known.EVENT = most(data.searchEvents.nodes as EventNode[], ({ participantsCount, interestedPeopleCount }) =>
      Math.min(participantsCount, interestedPeopleCount),
    ).sourceId;
  });

  test.each(lists)(
    '$coordinate is returned completely by its cursors, each node once, and by any offset',
    async ({ query, node }) => {
      const page = async (args: string): Promise<Page> => {
        const text = query(
          args,
          `{ edges { cursor node { ${node} } } nodes { ${node} } totalCount totalIsCapped pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`,
        ).replace(/SERIES|NOTE|EVENT/, (name) => known[name]!);
        const { data, errors } = await setup.execute(text, alice);
        expect(errors).toBeUndefined();
        return find(data, 'it') as Page;
      };
      const whole = await page('first: 100');
      expect(whole.nodes.length).toBeGreaterThan(1);
      if (whole.totalCount !== null && !whole.pageInfo.hasNextPage) expect(whole.totalCount).toBe(whole.nodes.length);
      expect(whole.edges.map((edge) => edge.node)).toEqual(whole.nodes);
      expect(whole.pageInfo).toMatchObject({
        hasPreviousPage: false,
        startCursor: whole.edges[0]!.cursor,
        endCursor: whole.edges.at(-1)!.cursor,
      });
      expect(new Set(whole.edges.map(({ cursor }) => cursor)).size).toBe(whole.edges.length);

      const size = Math.max(1, Math.ceil(Math.min(whole.nodes.length, 40) / 4));
      const paged: unknown[] = [];
      let after = '';
      for (let pages = 0; pages < 8; pages++) {
        const next = await page(`first: ${size}${after && `, after: "${after}"`}`);
        expect(next.totalCount).toBe(whole.totalCount);
        expect(next.pageInfo.hasPreviousPage).toBe(pages > 0);
        paged.push(...next.nodes);
        after = next.pageInfo.endCursor ?? after;
        if (!next.pageInfo.hasNextPage) break;
        expect(next.nodes).toHaveLength(size);
      }
      expect(paged.slice(0, whole.nodes.length)).toEqual(whole.nodes.slice(0, paged.length));
      expect(new Set(paged.map((one) => JSON.stringify(one))).size).toBe(paged.length);
      expect(paged.length).toBeGreaterThanOrEqual(Math.min(whole.nodes.length, size * 4));

      const jump = await page(`first: ${size}, offset: ${size}`);
      expect(jump.nodes).toEqual(whole.nodes.slice(size, size * 2));
      const last = await page(`first: 1, after: "${whole.edges.at(-2)!.cursor}"`);
      expect(last.nodes).toEqual(whole.nodes.slice(-1));
    },
  );
});

describe('a film', () => {
  const advanced =
    '{ subject(id: "26266893") { title languages durations releaseDates writers { name } trailerUrls reviews { nodes { title } } photos(first: 3) { nodes { id } } comments(first: 2) { nodes { id } } } }';
  const gated = ['comments', 'durations', 'languages', 'photos', 'releaseDates', 'reviews', 'trailerUrls', 'writers'];

  test.each([
    ['advance', alice],
    ['premium', carol],
    ['of the facade, without a token', {}],
  ] as const)('has all fields for the tier: %s', async (_, options) => {
    const { data, errors } = await setup.execute(advanced, options);
    expect(errors).toBeUndefined();
    expect(Object.values(data.subject as object).filter((value) => value === null)).toEqual([]);
  });

  test('lacks the fields of higher tiers on the basic tier, with one error per field that names the tiers', async () => {
    const { data, errors } = await setup.execute(advanced, bob);
    expect(data.subject).toEqual({
      title: expect.any(String) as string,
      ...Object.fromEntries(gated.map((name) => [name, null])),
    });
    expect(errors?.map(({ extensions }) => extensions.coordinate).sort()).toEqual(
      gated.map((name) => `Subject.${name}`),
    );
    for (const { extensions } of errors ?? [])
      expect(extensions).toMatchObject({ code: 'TIER_REQUIRED', tiers: ['ADVANCE', 'PREMIUM'] });
  });

  test.each([
    ['basic', bob, ['inTheaters', 'newMovies', 'weeklyChart']],
    ['premium', carol, ['newMovies', 'top250', 'usBoxOffice', 'weeklyChart']],
    ['advance', alice, []],
  ] as const)('is in the charts that the tier %s may read', async (_, options, rejected) => {
    const { data, errors } = await setup.execute(
      '{ top250(first: 2) { nodes { id } } usBoxOffice { title } weeklyChart { title } newMovies { title } inTheaters(first: 2) { nodes { id } } comingSoon(first: 2) { nodes { id } } searchSubjects(tag: "剧情", first: 2) { nodes { id } } }',
      options,
    );
    const absent = Object.keys(data as object).filter((name) => data[name] === null);
    expect(absent.sort()).toEqual(rejected);
    expect(errors?.map(({ path }) => path?.[0]).sort() ?? []).toEqual(rejected);
    expect([...new Set(codesOf({ errors: errors ?? [] }))]).toEqual(rejected.length ? ['TIER_REQUIRED'] : []);
  });

  test('has people of whom the premium tier gets only works and photos', async () => {
    const { data, errors } = await setup.execute(
      '{ celebrity(id: "1000525") { bornPlace works(first: 3) { nodes { roles subject { title } } } photos(first: 3) { nodes { imageUrl } } } }',
      carol,
    );
    expect(data.celebrity.bornPlace).toBeNull();
    expect(data.celebrity.works.nodes).toHaveLength(3);
    expect(data.celebrity.photos.nodes).toHaveLength(3);
    expect(errors?.map(({ extensions }) => [extensions.code, extensions.coordinate])).toEqual([
      ['TIER_REQUIRED', 'Celebrity.bornPlace'],
    ]);
    // Once the rejection is known, the name comes from the lists.
    const { response, passed } = await setup.cost(
      '{ celebrity(id: "1000525") { name webUrl works(first: 3) { nodes { roles } } } }',
      carol,
    );
    expect(response.errors).toBeUndefined();
    expect(leavesOf(response.data).length).toBeGreaterThan(4);
    expect(passed.map(({ line }) => line)).toEqual([
      'GET /v2/movie/celebrity/1000525/works?count=3&fields=roles&start=0',
    ]);
  });

  test('has a capped total of search results on the basic tier', async () => {
    const query = '{ searchSubjects(query: "的", first: 5) { totalCount totalIsCapped } }';
    const { data: basic } = await setup.execute(query, bob);
    const { data: advance } = await setup.execute(query, {});
    expect(basic.searchSubjects.totalCount).toBeLessThanOrEqual(20);
    expect(advance.searchSubjects.totalIsCapped).toBe(false);
  });

  test('is rejected without a call if the configured tier lacks it', async () => {
    const own = await journey({ accessToken: 'demo-bob', filmTier: 'basic' });
    const { response, passed } = await own.cost(
      '{ weeklyChart { title } newMovies { title } subject(id: "26266893") { durations writers { name } } }',
    );
    expect([...new Set(codesOf(response))]).toEqual(['TIER_REQUIRED']);
    expect(passed.filter(({ line }) => /weekly|new_movies|durations|writers/.test(line))).toEqual([]);
  });
});

describe('notes', () => {
  test('need a login, and without one make no calls', async () => {
    const { response, passed } = await setup.cost(
      '{ note(id: "1") { title } user(id: "alice") { notes { nodes { id } } } node(id: "Note:1") { id } }',
    );
    expect(response.data).toEqual({ note: null, user: { notes: null }, node: null });
    expect(codesOf(response)).toEqual(['LOGIN_REQUIRED', 'LOGIN_REQUIRED', 'LOGIN_REQUIRED']);
    expect(passed).toEqual([]);
  });

  test('are visible according to their privacy', async () => {
    const seenBy = async (options: object): Promise<Set<string>> => {
      const { data, errors } = await setup.execute(
        '{ user(id: "alice") { notes(first: 100) { nodes { sourceId privacy } } } }',
        options,
      );
      expect(errors).toBeUndefined();
      return new Set((data.user.notes.nodes as { privacy: string }[]).map(({ privacy }) => privacy));
    };
    expect([...(await seenBy(alice))].sort()).toEqual(['FRIEND', 'PRIVATE', 'PUBLIC']);
    expect([...(await seenBy(bob))].sort()).toEqual(['FRIEND', 'PUBLIC']);
    expect([...(await seenBy(carol))]).toEqual(['PUBLIC']);

    const { data } = await setup.execute(
      '{ user(id: "alice") { notes(first: 100) { nodes { sourceId privacy } } } }',
      alice,
    );
    for (const [privacy, options, isSeen] of [
      ['PRIVATE', alice, true],
      ['PRIVATE', bob, false],
      ['FRIEND', bob, true],
      ['FRIEND', carol, false],
      ['PUBLIC', carol, true],
    ] as const) {
      const { sourceId } = (data.user.notes.nodes as { sourceId: string; privacy: string }[]).find(
        (note) => note.privacy === privacy,
      )!;
      const answer = await setup.execute(
        `{ note(id: "${sourceId}") { title blocks { __typename } comments(first: 1) { totalCount } } }`,
        options,
      );
      expect({ privacy, isSeen: answer.data.note?.title !== undefined && answer.data.note !== null }).toEqual({
        privacy,
        isSeen,
      });
      if (!isSeen) expect(['FORBIDDEN', 'NOTE_NOT_FOUND', undefined]).toContain(codesOf(answer)[0]);
    }
  });
});

describe('the node', () => {
  test.each([
    ['Book', '{ it: searchBooks(tag: "小说", first: 3) { nodes { id __typename } } }'],
    ['Subject', '{ it: top250(first: 3) { nodes { id __typename } } }'],
    ['Celebrity', '{ subject(id: "26266893") { it: casts { id __typename } } }'],
    ['Annotation', '{ user(id: "alice") { it: annotations(first: 3) { nodes { id __typename } } } }'],
    ['Note', '{ user(id: "alice") { it: notes(first: 3) { nodes { id __typename } } } }'],
    [
      'NoteComment',
      '{ user(id: "alice") { notes(first: 3) { nodes { it: comments(first: 3) { nodes { id __typename } } } } } }',
    ],
    ['Event', '{ city(id: "beijing") { it: events(first: 3) { nodes { id __typename } } } }'],
    ['Collection', '{ user(id: "alice") { it: bookCollections(first: 3) { nodes { id __typename } } } }'],
    ['User', '{ subject(id: "26266893") { comments(first: 3) { nodes { it: author { id __typename } } } } }'],
    ['Series', '{ bookByIsbn(isbn: "9787544253994") { it: series { id __typename } } }'],
    ['City', '{ searchEvents(first: 3) { nodes { it: city { id __typename } } } }'],
  ])('%s is found by the id in a response', async (type, query) => {
    const { data } = await setup.execute(query, alice);
    const found = leavesOf(data).filter((value) => value.startsWith(`${type}:`));
    expect(found.length).toBeGreaterThan(0);
    for (const id of found.slice(0, 3)) {
      const { data: one, errors } = await setup.execute('query ($id: ID!) { node(id: $id) { id __typename } }', {
        ...alice,
        variables: { id },
      });
      expect(errors).toBeUndefined();
      expect(one).toEqual({ node: { id, __typename: type } });
    }
    const ids = [...found, ...found.slice(0, 1)];
    const { data: all } = await setup.execute('query ($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }', {
      ...alice,
      variables: { ids },
    });
    expect(all.nodes).toEqual(ids.map((id) => ({ id, __typename: type })));
  });

  test('has all fields of its type', async () => {
    const { data, errors } = await setup.execute(
      '{ node(id: "Book:6082808") { ... on Book { title authors series { title } tags(first: 2) { name } } ... on Event { place } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.node).toMatchObject({ title: expect.any(String) as string, tags: { length: 2 } });
  });
});

describe('the viewer', () => {
  test('reports what is known about the token, without a call', async () => {
    const query = '{ viewer { isLoggedIn filmTier rateBudget { limit remaining resetsAt } } }';
    const { response: anonymous, calls } = await setup.cost(query);
    expect(anonymous).toEqual({ data: { viewer: { isLoggedIn: false, filmTier: 'ADVANCE', rateBudget: null } } });
    expect(calls).toBe(0);
    const { response: loggedIn, calls: furtherCalls } = await setup.cost(query, alice);
    expect(loggedIn.data.viewer).toMatchObject({ isLoggedIn: true });
    expect(furtherCalls).toBe(0);
  });

  test('has a private collection', async () => {
    const { data: mine } = await setup.execute(
      '{ user(id: "alice") { bookCollections(first: 1) { nodes { book { sourceId } } } } }',
      alice,
    );
    const id: string = mine.user.bookCollections.nodes[0].book.sourceId;
    const query = `{ book(id: "${id}") { title viewerCollection { status updatedAt tagNames comment } } }`;
    const { data: seen } = await setup.execute(query, alice);
    expect(seen.book.viewerCollection.status).toMatch(/^(WISH|READING|READ)$/);
    const { response } = await setup.cost(query);
    expect({ errors: response.errors, collection: response.data.book.viewerCollection as unknown }).toEqual({
      errors: undefined,
      collection: null,
    });
  });

  test('with an unknown token is unauthenticated in every field', async () => {
    const { data, errors } = await setup.execute(
      '{ book(id: "25762005") { title } top250(first: 1) { nodes { id } } event(id: "30134553") { title } }',
      { token: 'of-nobody' },
    );
    expect(data).toEqual({ book: null, top250: null, event: null });
    expect([...new Set(codesOf({ errors: errors ?? [] }))]).toEqual(['UNAUTHENTICATED']);
    expect(JSON.stringify(errors)).not.toContain('of-nobody');
  });

  test('with anything but a bearer token is unauthenticated without a call', async () => {
    const { response, passed } = await setup.cost('{ book(id: "25762005") { title } }', {
      headers: { authorization: 'Basic YWxpY2U6eA==' },
    });
    expect(codesOf(response)).toEqual(['UNAUTHENTICATED']);
    expect(passed).toEqual([]);
  });
});

test('a response has a request id, the client’s own if it is safe', async () => {
  const send = (headers: Record<string, string>) =>
    fetch(`${setup.facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"query":"{ viewer { isLoggedIn } }"}',
    });
  const [first, second] = [await send({}), await send({})];
  expect(first.headers.get('x-request-id')).toMatch(/^[\w-]{8,}$/);
  expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'));
  expect((await send({ 'x-request-id': 'page-7' })).headers.get('x-request-id')).toBe('page-7');
});

interface Page {
  nodes: unknown[];
  edges: { cursor: string; node: unknown }[];
  totalCount: number | null;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
}

interface NoteNode {
  sourceId: string;
  commentsCount: number;
}
interface EventNode {
  sourceId: string;
  participantsCount: number;
  interestedPeopleCount: number;
}

/** The value of a key at any depth. */
function find(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (key in value) return (value as Record<string, unknown>)[key];
  return Object.values(value)
    .map((below) => find(below, key))
    .find((found) => found !== undefined);
}

function most<T>(items: readonly T[], by: (item: T) => number): T {
  return [...items].sort((a, b) => by(b) - by(a))[0]!;
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return typeof value === 'string' ? [value] : [];
}

/** Positions where every object is null, or every list empty. */
function emptyPositions(text: string, data: unknown): string[] {
  const document = parse(text);
  const fragments = new Map(
    document.definitions.flatMap((each) =>
      each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [],
    ),
  );
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)!;
  const filled = new Set<string>();
  const empty = within(schema.getQueryType()!, operation.selectionSet, data, '');
  return [...new Set(empty)].filter((place) => !filled.has(place));

  function within(type: GraphQLOutputType, { selections }: SelectionSetNode, value: unknown, path: string): string[] {
    return selections.flatMap((selection): string[] => {
      if (selection.kind === Kind.FRAGMENT_SPREAD)
        return within(type, fragments.get(selection.name.value)!.selectionSet, value, path);
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const on = selection.typeCondition?.name.value;
        return !on || on === (value as { __typename?: string }).__typename
          ? within(schema.getType(on!) as GraphQLOutputType, selection.selectionSet, value, path)
          : [];
      }
      const field = isObjectType(type) ? type.getFields()[selection.name.value] : undefined;
      if (!field) return [];
      const key = selection.alias?.value ?? selection.name.value;
      return inside(
        field.type,
        selection.selectionSet,
        (value as Record<string, unknown>)[key],
        path ? `${path}.${key}` : key,
      );
    });
  }

  function inside(type: GraphQLOutputType, set: SelectionSetNode | undefined, value: unknown, path: string): string[] {
    if (isListType(getNullableType(type))) {
      const items = value as unknown[] | null;
      if (!items?.length) return [path];
      filled.add(path);
      return set ? items.flatMap((item) => inside(getNamedType(type), set, item, `${path}.*`)) : [];
    }
    if (!set) return [];
    if (value === null) return [path];
    filled.add(path);
    return within(getNamedType(type), set, value, path);
  }
}
