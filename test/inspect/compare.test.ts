import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { readers } from '../../src/atom/media.ts';
import { type Deviation, compare } from '../../src/inspect/compare.ts';
import { type RecordedResponse, recordedResponses } from './corpus.ts';

const shown = ({ what, coordinate, expected, found }: Deviation) =>
  [what, coordinate, expected && `${expected}, not ${found}`].filter(Boolean).join(' ');

const isAtom = ({ media }: RecordedResponse['endpoint']): boolean => media !== 'json';

const findingsIn = ({ endpoint, fields }: RecordedResponse, text: string): string[] => {
  const value = isAtom(endpoint) ? readers[endpoint.media as 'event'](text) : (JSON.parse(text) as unknown);
  return compare(endpoint, value, fields).map(shown);
};

const all = recordedResponses();

test('recorded responses are as the interface says', () => {
  const found = Object.fromEntries(all.map((each) => [each.file, findingsIn(each, each.text)]));
  expect(Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0))).toEqual({});
  expect(all.length).toBeGreaterThan(30);
});

/** A member of a recorded response: its record, its name and where it is, once for each coordinate. */
interface Place {
  record: Record<string, unknown>;
  name: string;
  coordinate: string;
}

function placesIn(value: unknown, at = '', found = new Map<string, Place>()): Place[] {
  if (Array.isArray(value)) for (const item of value) placesIn(item, `${at}[]`, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      const coordinate = at === '' ? name : `${at}.${name}`;
      if (!found.has(coordinate)) found.set(coordinate, { record: value as Record<string, unknown>, name, coordinate });
      placesIn(member, coordinate, found);
    }
  return [...found.values()];
}

/** Reads nothing of these: whatever they are is right. */
const UNREAD =
  /(^|\.|\])(videos|popular_comments|photos_count|has_\w+|share_url|tags|collection|trailers|bloopers|clips|details|recs_count|content)\b/;
const isRead = (file: string, coordinate: string) => !(file.startsWith('film/') && UNREAD.test(coordinate));
/** A map of pictures by their numbers, whose names are free. */
const isMap = (coordinate: string) => /(^|\.)photos\.\w+$/.test(coordinate);

/** Names of pictures in a map are free, so a place in it is any of them. */
const shownAt = (coordinate: string) => (isMap(coordinate) ? coordinate.replace(/\w+$/, '*') : coordinate);

/** Plants a change at every place of every recorded JSON response. Returns where nothing of it was found. */
function plant(
  change: (place: Place) => { expected: string } | undefined,
  isExempt: (file: string, coordinate: string) => boolean = () => false,
): { planted: number; unnamed: string[] } {
  const unnamed = new Set<string>();
  let planted = 0;
  for (const each of all) {
    const { file, endpoint, fields } = each;
    if (isAtom(endpoint)) continue;
    const body = JSON.parse(each.text) as Record<string, unknown>;
    for (const place of placesIn(body)) {
      const { record, name, coordinate } = place;
      if (!isRead(file, coordinate) || isExempt(file, coordinate)) continue;
      const before = { ...record };
      const changed = change(place);
      if (changed) {
        planted++;
        const found = compare(endpoint, body, fields).map(shown);
        if (!found.some((finding) => finding.startsWith(changed.expected)))
          unnamed.add(`${endpoint.path} ${coordinate}`);
        for (const key of Object.keys(record)) delete record[key];
        Object.assign(record, before);
      }
      expect(Object.keys(record)).toContain(name);
    }
  }
  return { planted, unnamed: [...unnamed].sort() };
}

const siblingOf = (coordinate: string, name: string) => coordinate.replace(/[^.]*$/, name);

test('every renamed member is named', () => {
  const { planted, unnamed } = plant(
    ({ record, name, coordinate }) => {
      record[`${name}_v2`] = record[name];
      delete record[name];
      return { expected: `unknown ${siblingOf(coordinate, `${name}_v2`)}` };
    },
    (_, coordinate) => isMap(coordinate),
  );
  expect(unnamed).toEqual([]);
  expect(planted).toBeGreaterThan(1_000);
});

test('every member of another type is named, with both types', () => {
  const other = (value: unknown): unknown => {
    if (typeof value === 'string') return { value };
    if (typeof value === 'number') return [value];
    if (typeof value === 'boolean') return value ? 1 : 0;
    return Array.isArray(value) ? { 0: value[0] as unknown } : 'text';
  };
  const { planted, unnamed } = plant(({ record, name, coordinate }) => {
    if (record[name] === null) return undefined;
    record[name] = other(record[name]);
    return { expected: `type ${shownAt(coordinate)} ` };
  });
  expect(unnamed).toEqual([]);
  expect(planted).toBeGreaterThan(1_000);
});

test('a number in place of a text, and a text in place of a number, are named', () => {
  const { unnamed } = plant(({ record, name, coordinate }) => {
    const value = record[name];
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    record[name] = typeof value === 'string' ? 1 : '1';
    return { expected: `type ${shownAt(coordinate)} ` };
  });
  // The specification and the real service differ, and both are read.
  expect(unnamed.filter((place) => !/\.stars$/.test(place))).toEqual([]);
});

test('every null is named where the interface has none', () => {
  const { planted, unnamed } = plant(({ record, name, coordinate }) => {
    if (record[name] === null) return undefined;
    record[name] = null;
    return { expected: `type ${shownAt(coordinate)} ` };
  });
  expect(planted).toBeGreaterThan(1_000);
  // People without a page, and what only series have.
  const mayBeNull =
    /\.(avatars|alt|id)$|^\/v2\/movie\/celebrity\/:id (id|alt|avatars)$| (do_count|\w+_season|\w+s_count)$/;
  expect(unnamed.filter((place) => !mayBeNull.test(place))).toEqual([]);
});

test('every removed member that its type requires is named', () => {
  const { planted, unnamed } = plant(
    ({ record, name, coordinate }) => {
      delete record[name];
      return { expected: `missing ${coordinate}` };
    },
    (_, coordinate) => !/(^|\.)(id|title|max|min|books|start)$/.test(coordinate),
  );
  expect(planted).toBeGreaterThan(200);
  // Charts may be without a title, tags of old editions without that of another name.
  expect(unnamed.filter((place) => !/movie\/\w+ title$|tags\[\]\.title$/.test(place))).toEqual([]);
});

const documents = all.filter(({ endpoint }) => isAtom(endpoint));
test.each([
  [/<(?:atom:)?title>[^<]*<\/(?:atom:)?title>/, '', 'type title'],
  [/startTime="[^"]*"/, 'startTime="tomorrow"', 'type startTime'],
  [/(name="participants">)\d+/, '$1many', 'type participants'],
  [/(name="can_invite">)\w+/, '$1perhaps', 'type can_invite'],
])('a change of an event is named: %s to %s', (pattern, by, expected) => {
  const event = documents.find(({ file }) => file.endsWith('event-1.xml'))!;
  const text = event.text.replace(pattern, by);
  expect(text).not.toBe(event.text);
  const found = findingsIn(event, text);
  expect(
    found.some((finding) => finding.startsWith(expected)),
    found.join('; '),
  ).toBe(true);
});

test('an entry of a feed that has lost its id is named', () => {
  const feed = documents.find(({ file }) => file.includes('people-feed'))!;
  const text = feed.text
    .replace(/(<entry>[^]*?)<id>[^<]*<\/id>/, '$1')
    .replaceAll(/<link [^>]*rel="self"[^>]*\/>/g, '');
  expect(findingsIn(feed, text)).toContain('type entries[] AtomPerson, not null');
});

test('no response makes the comparison fail, and a member that no type has is always named', () => {
  const rows = [
    bookEndpoints.byId,
    bookEndpoints.search,
    filmEndpoints.subject,
    filmEndpoints.usBox,
    noteEndpoints.byId,
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...rows),
      fc.jsonValue({ maxDepth: 4 }),
      fc.string({ minLength: 1 }),
      (row, value, name) => {
        compare(row, value);
        const unknown = `${name}?`;
        const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
        const found = compare(row, isRecord ? { ...value, [unknown]: 1 } : { [unknown]: 1 });
        expect(found.map(({ what, coordinate }) => `${what} ${coordinate}`)).toContain(
          `unknown ${unknown.slice(0, 60)}`,
        );
      },
    ),
  );
});

test('a member that was not requested is not missing, and one that was is', () => {
  const fields = ['id', 'title'];
  expect(compare(bookEndpoints.byId, { id: '1', title: 'x' }, fields)).toEqual([]);
  expect(compare(bookEndpoints.byId, { id: '1' }, fields)).toEqual([{ what: 'missing', coordinate: 'title' }]);
  const page = { start: 0, count: 1, total: 1, books: [{ id: '1' }] };
  expect(compare(bookEndpoints.search, page, fields)).toEqual([{ what: 'missing', coordinate: 'books[].title' }]);
});
