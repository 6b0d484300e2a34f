import { beforeAll, describe, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';

/** The cache is off, except in tests of the cache. */
let cold: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  cold = await journey({ recordTtlSeconds: '0' });
});

const alice = { token: 'demo-alice' };

interface Row {
  page: string;
  query: string;
  calls: number;
  depth: number;
  token?: string;
}

const rows: Row[] = [
  {
    page: 'film by id: record, people, photos, popular reviews, comments with their count',
    query: `{ subject(id: "26266893") {
      title summary directors { name } casts { name portrait { small } } writers { name }
      photos(first: 6) { nodes { id imageUrl } } reviews { nodes { title author { name } } }
      comments(first: 5) { totalCount nodes { content author { name } } }
    } }`,
    calls: 2,
    depth: 1,
  },
  {
    page: 'the same with the number of photos',
    query: `{ subject(id: "26266893") {
      title summary directors { name } casts { name portrait { small } } writers { name }
      photos(first: 6) { totalCount nodes { id imageUrl } } reviews { nodes { title author { name } } }
      comments(first: 5) { totalCount nodes { content author { name } } }
    } }`,
    calls: 3,
    depth: 1,
  },
  ...[
    'searchSubjects(tag: "剧情", first: 20)',
    'top250(first: 20)',
    'inTheaters(first: 20)',
    'comingSoon(first: 20)',
  ].map((list) => ({
    page: `film list ${list}`,
    query: `{ ${list} { nodes { id title year poster { small } rating { average } } } }`,
    calls: 1,
    depth: 1,
  })),
  {
    page: 'new movies',
    query: '{ newMovies { subjects { id title year poster { small } rating { average } } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: 'box office',
    query: '{ usBoxOffice { entries { rank subject { id title year poster { small } rating { average } } } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: 'weekly chart',
    query: '{ weeklyChart { entries { rank subject { id title year poster { small } rating { average } } } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: 'search of 20 short records with summary',
    query: '{ searchSubjects(tag: "剧情", first: 20) { nodes { id summary } } }',
    calls: 21,
    depth: 2,
  },
  {
    page: 'top250 of 20 short records with summary',
    query: '{ top250(first: 20) { nodes { id title summary } } }',
    calls: 21,
    depth: 2,
  },
  {
    page: 'films in theaters with summary',
    query: '{ inTheaters(first: 20) { nodes { id title summary } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: 'films coming soon with summary',
    query: '{ comingSoon(first: 20) { nodes { id title summary } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: '20 films of top250, directors and casts',
    query:
      '{ top250(first: 20) { nodes { directors { name portrait { small } } casts { name portrait { small } } } } }',
    calls: 21,
    depth: 2,
  },
  {
    page: 'celebrity with works and photos',
    query:
      '{ celebrity(id: "1000525") { name summary works(first: 5) { nodes { roles subject { title } } } photos(first: 10) { nodes { imageUrl } } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: 'celebrity with 20 works and a field that only the record has',
    query: '{ celebrity(id: "1000525") { name bornPlace works(first: 20) { nodes { roles subject { title } } } } }',
    calls: 2,
    depth: 1,
  },
  {
    page: 'celebrity with 20 works and no more than the name',
    query: '{ celebrity(id: "1000525") { id name works(first: 20) { nodes { roles subject { title } } } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: 'charts',
    query: `{
      top250(first: 10) { nodes { title } } usBoxOffice { entries { rank subject { title } } } weeklyChart { entries { rank subject { title } } }
      newMovies { subjects { title } } inTheaters(first: 10) { nodes { title } } comingSoon(first: 10) { nodes { title } }
    }`,
    calls: 6,
    depth: 1,
  },
  {
    page: 'book by ISBN: record, tags, its series, annotations',
    query: `{ bookByIsbn(isbn: "9787544253994") {
      title summary tags(first: 8) { name count } series { title books(first: 5) { nodes { title } } } annotations(first: 5) { nodes { abstract } }
    } }`,
    calls: 3,
    depth: 2,
  },
  {
    page: 'book by id with 20 annotations, their content and authors',
    query: '{ book(id: "6082808") { title summary annotations(first: 20) { nodes { content author { name } } } } }',
    calls: 2,
    depth: 1,
  },
  {
    page: 'the same book under five aliases',
    query: `{
      a: book(id: "6082808") { title } b: book(id: "6082808") { authors } c: book(id: "6082808") { summary }
      d: book(id: "6082808") { publisher pages } e: book(id: "6082808") { rating { average } tags { name } }
    }`,
    calls: 1,
    depth: 1,
  },
  {
    page: 'shelf of 30 with books, and the tags',
    query:
      '{ user(id: "alice") { bookCollections(first: 30) { nodes { status rating { value } book { title authors } } } bookTags { nodes { name count } } } }',
    calls: 2,
    depth: 1,
  },
  {
    page: 'shelf with the ids of its books',
    query: '{ user(id: "alice") { bookCollections(first: 30) { nodes { status book { id } } } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: 'event by id with participants and interested people',
    query:
      '{ event(id: "30134553") { title participants(first: 5) { nodes { name } } interestedPeople(first: 5) { nodes { name } } } }',
    calls: 3,
    depth: 1,
  },
  {
    page: 'city events with the name of the city',
    query: '{ city(id: "beijing") { name events(first: 20) { nodes { title city { name } } } } }',
    calls: 1,
    depth: 1,
  },
  {
    page: '20 city events with organizer',
    query: '{ city(id: "beijing") { events(first: 20) { nodes { title organizer { name } } } } }',
    calls: 21,
    depth: 2,
  },
  {
    page: 'dashboard',
    query: `{
      user(id: "alice") {
        wish: bookCollections(status: WISH, first: 5) { nodes { book { title } } } read: bookCollections(status: READ, first: 5) { nodes { book { title } } }
        annotations(first: 5) { nodes { abstract } } joined: events(relation: PARTICIPATING, first: 5) { nodes { title } }
        wished: events(relation: INTERESTED, first: 5) { nodes { title } }
      }
      inTheaters(first: 5) { nodes { title } }
    }`,
    calls: 6,
    depth: 1,
  },
  {
    page: 'book with the status of its collection',
    query: '{ book(id: "6082808") { title viewerCollection { status } } }',
    calls: 1,
    depth: 1,
    ...alice,
  },
  {
    page: 'no more of a book than its collection',
    query: '{ book(id: "6082808") { viewerCollection { status tagNames comment } } }',
    calls: 1,
    depth: 1,
    ...alice,
  },
  {
    page: '20 search results with the status of their collections',
    query: '{ searchBooks(query: "的", first: 20) { nodes { title viewerCollection { status } } } }',
    calls: 1,
    depth: 1,
    ...alice,
  },
  {
    page: 'film with the reviews that its record carries',
    query:
      '{ subject(id: "26266893") { title reviews(first: 10) { nodes { title summary rating { value } author { name } } } } }',
    calls: 1,
    depth: 1,
  },
];

describe('a page needs', () => {
  test.each(rows)('$calls calls in $depth waves: $page', async ({ query, calls, depth, token }) => {
    const { response, passed } = await cold.cost(query, { ...(token && { token }), waves: true });
    expect(response.errors).toBeUndefined();
    expect({
      calls: passed.length,
      depth: Math.max(...passed.map(({ wave }) => wave)),
      lines: passed.map(({ line }) => line),
    }).toMatchObject({ calls, depth });
  });

  test('2 calls in 1 wave: a note with its content in two formats', async () => {
    const { response: found } = await cold.cost(
      '{ user(id: "alice") { notes(first: 1) { nodes { sourceId } } } }',
      alice,
    );
    const id: string = found.data.user.notes.nodes[0].sourceId;
    const { response, calls, depth } = await cold.cost(
      `{ note(id: "${id}") { title content html: content(format: HTML_FULL) } }`,
      { ...alice, waves: true },
    );
    expect(response.errors).toBeUndefined();
    expect({ calls, depth }).toEqual({ calls: 2, depth: 1 });
  });

  test.each([
    ['content(format: ABSTRACT)', 1],
    ['content(format: HTML_FULL) title', 1],
    ['content html: content(format: HTML_FULL)', 2],
    ['short: content(format: HTML_SHORT) html: content(format: HTML_FULL)', 2],
  ])('the notes of a user with %s need %i calls, as planned', async (selection, expected) => {
    const query = `{ user(id: "alice") { notes(first: 20) { nodes { ${selection} } } } }`;
    const { response, calls } = await cold.cost(query, alice);
    expect(response.errors).toBeUndefined();
    expect(response.data.user.notes.nodes.length).toBeGreaterThan(1);
    const { extensions } = await cold.execute(query, { ...alice, headers: { 'x-explain': 'plan' } });
    expect([calls, extensions]).toMatchObject([expected, { upstream: { max: expected } }]);
    // The same texts as the single notes have.
    const { nodes } = (await cold.execute(query.replace('nodes {', 'nodes { id'), alice)).data.user.notes;
    const { id, ...texts } = nodes[1];
    expect((await cold.execute(`{ node(id: "${id}") { ... on Note { ${selection} } } }`, alice)).data.node).toEqual(
      texts,
    );
  });

  test('1 call: the annotations of a book as HTML', async () => {
    const { passed } = await cold.cost(
      '{ book(id: "6082808") { annotations(first: 20) { nodes { content(format: HTML) } } } }',
    );
    const line = '/v2/book/6082808/annotations?count=20&fields=content,id,privacy&format=html&order=rank&start=0';
    expect(passed.map((each) => each.line)).toEqual([`GET ${line}`]);
  });

  test('only the ids of books for a list of collections with book ids', async () => {
    const { passed } = await cold.cost(
      '{ user(id: "alice") { bookCollections(first: 30) { nodes { status book { id } } } } }',
    );
    expect(passed[0]?.line).toContain('fields=book_id,id,status');
  });
});

describe('bytes', () => {
  test('title and authors of a long book are under 5 % of its record', async () => {
    const { passed: few } = await cold.cost('{ book(id: "6082808") { title authors } }');
    const whole = await cold.origin.get('/v2/book/6082808');
    expect(few[0]!.bytes).toBeLessThan(Buffer.byteLength(whole.text) * 0.05);
  });

  test('ids and titles of 20 films are under 15 % of the unprojected page', async () => {
    const { passed: few } = await cold.cost('{ top250(first: 20) { nodes { id title } } }');
    const whole = await cold.origin.get('/v2/movie/top250?start=0&count=20', 'alice');
    expect(few[0]!.bytes).toBeLessThan(Buffer.byteLength(whole.text) * 0.15);
  });
});

test('repeating any page within the time to live makes no calls', async () => {
  const warm = await journey();
  for (const { page, query, token } of rows.filter((row) => !row.token)) {
    const first = await warm.cost(query, token ? { token } : {});
    const again = await warm.cost(query, token ? { token } : {});
    expect({ page, calls: again.calls, response: again.response }).toEqual({
      page,
      calls: 0,
      response: first.response,
    });
  }
});
