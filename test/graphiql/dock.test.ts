/** What the dock below GraphiQL finds, offers and completes. */
import { introspectionFromSchema, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';

interface Entry {
  coordinate: string;
  field?: { name: string };
}
/** The scripts of the page have no types. */
const load = async (name: string): Promise<unknown> => import(`../../graphiql/dock/${name}.js`);
const { entriesOf, searchEntries, documentFor, searchesFor } = (await load('schema-search')) as {
  entriesOf: (introspection: unknown) => Entry[];
  searchEntries: (
    entries: readonly Entry[],
    text: string,
  ) => { found: Entry[]; missed: readonly string[]; isPartial: boolean };
  documentFor: (introspection: unknown, entry: Entry) => string | undefined;
  searchesFor: (introspection: unknown, words: string) => readonly { name: string; text: string }[];
};
const { everydayWords } = (await load('everyday-words')) as { everydayWords: Record<string, readonly string[]> };
const { starters } = (await load('starters')) as {
  starters: Record<string, { words: readonly string[]; text: string }>;
};
interface Requirement {
  coordinate: string;
  loginRequired: boolean;
  tiers: readonly string[] | null;
}
const { groupsOf, isAllowed } = (await load('people-allowed')) as {
  groupsOf: (requirements: readonly Requirement[]) => { coordinates: readonly string[] }[];
  isAllowed: (group: unknown, viewer: { isLoggedIn: boolean; filmTier: string | null }) => boolean | undefined;
};
const { rootWordAt, rootsFor } = (await load('root-words')) as {
  rootWordAt: (before: string) => string | undefined;
  rootsFor: (introspection: unknown, word: string) => readonly { name: string }[];
};
const { idsIn, idsFor, argumentAt, memberAt } = (await load('ids')) as {
  idsIn: (value: unknown) => Iterable<{ id: string; label: string }>;
  idsFor: (introspection: unknown, seen: readonly { id: string; label: string }[], wanted: string) => { id: string }[];
  argumentAt: (before: string) => { typed: string; type: string } | undefined;
  memberAt: (before: string) => { typed: string; type: string } | undefined;
};

const introspection = introspectionFromSchema(schema);
const entries = entriesOf(introspection);
const find = (text: string) => searchEntries(entries, text).found.map(({ coordinate }) => coordinate);

describe('the search', () => {
  test.each([
    ['film', 'Query.subject'],
    ['films', 'Query.top250'],
    ['movie', 'Query.subject'],
    ['movie', 'Query.searchSubjects'],
    ['weekend', 'City.events'],
    ['weekend', 'Query.searchEvents'],
    ['cheaper', 'Viewer.rateBudget'],
    ['director', 'Query.celebrity'],
    ['actor', 'Subject.casts'],
    ['shelf', 'User.bookCollections'],
    ['films cinema', 'Query.inTheaters'],
    ['isbn', 'Query.bookByIsbn'],
    ['collectBook', 'Mutation.collectBook'],
    ['date', 'Subject.releaseDates'],
    ['films by one director with rating above 9', 'Query.celebrity'],
    ['what annotators of a book also read', 'Annotation'],
    ['events in Beijing this weekend', 'City.events'],
  ])('finds with "%s" %s among the first eight', (text, coordinate) => {
    expect(find(text).slice(0, 8)).toContain(coordinate);
  });

  test('each everyday word finds something, and each word behind it is one of the schema', () => {
    const lost = Object.entries(everydayWords).flatMap(([word, others]) =>
      [word, ...others].filter((each) => find(each).length === 0),
    );
    expect(lost).toEqual([]);
  });

  test('a word that nothing has is named, and the others are found without it', () => {
    const { found, missed, isPartial } = searchEntries(entries, 'a book of xyzzy 9');
    expect([found[0]?.coordinate, missed, isPartial]).toEqual(['Query.book', ['xyzzy'], true]);
    expect(searchEntries(entries, 'book').missed).toEqual([]);
    expect([find('xyzzy'), find('  ')]).toEqual([[], []]);
  });

  test('a word is found where a word of a name begins', () => {
    expect(find('date').filter((coordinate) => /update/i.test(coordinate))).toEqual([]);
  });

  test('words that the schema does not have are searched in the data', () => {
    const searches = searchesFor(introspection, '诺兰 "x"');
    expect(searches.map(({ name }) => name)).toEqual(['searchBooks', 'searchEvents', 'searchSubjects']);
    for (const { text } of searches) {
      expect(validate(schema, parse(text))).toEqual([]);
      expect(text).toContain(String.raw`query: "诺兰 \"x\""`);
    }
  });

  test('a field of the query, or of an object that the query has by an id, can be tried: its document is valid', () => {
    const documents = new Map(
      entries.flatMap((entry) => {
        const text = entry.field && documentFor(introspection, entry);
        return text ? [[entry.coordinate, text] as const] : [];
      }),
    );
    for (const [coordinate, text] of documents)
      expect([coordinate, text, validate(schema, parse(text))]).toEqual([coordinate, text, []]);
    const roots = Object.keys(schema.getQueryType()!.getFields());
    expect(roots.filter((name) => !documents.has(`Query.${name}`)).length).toBeLessThan(4);
    expect(documents.get('City.events')).toBe(
      '{\n  city(id: "beijing") {\n    events(first: 5) {\n      nodes {\n        title\n        id\n        startsAt\n      }\n    }\n  }\n}\n',
    );
    expect(documents.size).toBeGreaterThan(150);
  });
});

test('each starter is valid, and has a name', () => {
  for (const { text } of Object.values(starters)) {
    expect(validate(schema, parse(text))).toEqual([]);
    expect(text).toMatch(/^(?:#.{1,55}\n)*query \w+/);
  }
});

test('what a person may use follows from login and film tier, and is open while the tier is not known', () => {
  const groups = groupsOf([
    { coordinate: 'Note.title', loginRequired: true, tiers: null },
    { coordinate: 'Note.content', loginRequired: true, tiers: null },
    { coordinate: 'Query.top250', loginRequired: false, tiers: ['BASIC', 'ADVANCE'] },
    { coordinate: 'Query.subject', loginRequired: false, tiers: ['BASIC', 'ADVANCE', 'PREMIUM'] },
    { coordinate: 'Query.book', loginRequired: false, tiers: null },
  ]);
  expect(groups.map(({ coordinates }) => coordinates)).toEqual([['Note.title', 'Note.content'], ['Query.top250']]);
  const allowed = (isLoggedIn: boolean, filmTier: string | null) =>
    groups.map((group) => isAllowed(group, { isLoggedIn, filmTier }));
  expect(allowed(true, 'PREMIUM')).toEqual([true, false]);
  expect(allowed(false, 'ADVANCE')).toEqual([false, true]);
  expect(allowed(true, null)).toEqual([true, undefined]);
});

describe('the completion of everyday words', () => {
  test('is offered for a field of the query, of at least three letters', () => {
    expect(rootWordAt('{ films')).toBe('films');
    expect(rootWordAt('query A($id: ID! = "{") { book(id: "1") { title } dir')).toBe('dir');
    expect(rootWordAt('mutation A { book { id } } query { mov')).toBe('mov');
    for (const other of [
      '{ fi',
      '{ book(fir',
      '{ book { fil',
      'mutation { fil',
      'query Film',
      '{ book(id: "fil',
      '# { fil',
    ])
      expect([other, rootWordAt(other)]).toEqual([other, undefined]);
  });

  test('offers the fields that mean the word, and not those that its letters find', () => {
    const offered = (word: string) => rootsFor(introspection, word).map(({ name }) => name);
    expect(offered('films')).toEqual(expect.arrayContaining(['subject', 'top250']));
    expect(offered('dir')).toContain('celebrity');
    expect(offered('weekend')).toContain('searchEvents');
    expect(offered('book')).not.toContain('book');
    expect(offered('xyzzy')).toEqual([]);
  });
});

describe('the completion of ids', () => {
  test('knows the objects with an id in a response, whole or in parts, by their titles', () => {
    const data = {
      book: { id: 'Book:1', title: 'A' },
      list: [{ id: 'User:2', name: 'B' }, { id: '' }, { id: 3 }, null],
    };
    expect([...idsIn([data, undefined])]).toEqual([
      { id: 'Book:1', label: 'A' },
      { id: 'User:2', label: 'B' },
    ]);
    expect([...idsIn([undefined, [{ data: { id: 'Note:1' } }]])]).toEqual([{ id: 'Note:1', label: '' }]);
  });

  test('offers only ids of the type that is wanted, and the example of its description', () => {
    const seen = ['User:1', 'City:2', 'Note:3'].map((id) => ({ id, label: '' }));
    const offered = (wanted: string) => idsFor(introspection, seen, wanted).map(({ id }) => id);
    expect(offered('city')).toEqual(['City:2', 'beijing']);
    expect(offered('deleteNote')[0]).toBe('Note:3');
    expect(offered('deleteNote')).not.toContain('User:1');
    expect(offered('node')).toEqual(['User:1', 'City:2', 'Note:3']);
  });

  test('is offered for an argument that takes an id, with its type', () => {
    expect(argumentAt('{ book(id: "')).toEqual({ typed: '', type: 'book' });
    expect(argumentAt('{ a book(x: 1, id: "Bo')).toEqual({ typed: 'Bo', type: 'book' });
    expect(argumentAt('mutation { a(input: { bookId: "')).toEqual({ typed: '', type: 'book' });
    expect(argumentAt('{ nodes(ids: ["Book:1", "')).toEqual({ typed: '', type: 'nodes' });
    expect(argumentAt('{ viewer { canUse(coordinate: "Sub')).toEqual({ typed: 'Sub', isCoordinate: true });
    expect(argumentAt('{ searchBooks(query: "')).toBeUndefined();
    expect(argumentAt('{ book(id: "1") { title')).toBeUndefined();
    expect(memberAt('{ "bookId": "B')).toEqual({ typed: 'B', type: 'book' });
    expect(memberAt('{ "id')).toBeUndefined();
  });
});
