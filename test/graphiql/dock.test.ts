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
const { entriesOf, searchEntries, documentFor } = (await load('schema-search')) as {
  entriesOf: (introspection: unknown) => Entry[];
  searchEntries: (entries: readonly Entry[], text: string) => Entry[];
  documentFor: (introspection: unknown, entry: Entry) => string | undefined;
};
const { everydayWords } = (await load('everyday-words')) as { everydayWords: Record<string, readonly string[]> };
const { starters } = (await load('starters')) as { starters: Record<string, string> };
const { idsIn, argumentAt, memberAt } = (await load('ids')) as {
  idsIn: (value: unknown) => Iterable<{ id: string; label: string }>;
  argumentAt: (before: string) => { typed: string; type: string } | undefined;
  memberAt: (before: string) => { typed: string; type: string } | undefined;
};

const introspection = introspectionFromSchema(schema);
const entries = entriesOf(introspection);
const find = (text: string) => searchEntries(entries, text).map(({ coordinate }) => coordinate);

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
  ])('finds with "%s" %s among the first eight', (text, coordinate) => {
    expect(find(text).slice(0, 8)).toContain(coordinate);
  });

  test('each everyday word finds something, and each word behind it is one of the schema', () => {
    const lost = Object.entries(everydayWords).flatMap(([word, others]) =>
      [word, ...others].filter((each) => find(each).length === 0),
    );
    expect(lost).toEqual([]);
  });

  test('all words must be there', () => {
    expect(find('book xyzzy')).toEqual([]);
    expect(find('  ')).toEqual([]);
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

test('each of the three starters is valid, and has a name', () => {
  expect(Object.keys(starters)).toHaveLength(3);
  for (const text of Object.values(starters)) {
    expect(validate(schema, parse(text))).toEqual([]);
    expect(text).toMatch(/^query \w+/);
  }
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
