/** Which endpoints the doctor reads, with ids that it takes from lists. First those whose types no other has. */
import { readShapes } from '../../generated/api-shapes.ts';
import { bookEndpoints } from '../api/book.ts';
import type { Endpoint, PathsReadIn } from '../api/endpoint.ts';
import { eventEndpoints } from '../api/event.ts';
import { filmEndpoints } from '../api/film.ts';
import { noteEndpoints } from '../api/note.ts';
import { isBroken, tiersSeen } from './reads.ts';
import type { ServiceRead, ServiceReader } from './service-reader.ts';

/** Endpoints that were not read, and why. */
export type Unread = Map<Endpoint, string>;

const all: readonly Endpoint[] = [bookEndpoints, filmEndpoints, eventEndpoints, noteEndpoints].flatMap((table) =>
  Object.values<Endpoint>(table),
);
export const readEndpoints = all.filter(({ method }) => method === 'GET');

/** A list of one or two items is cheap; the second is taken where the first lacks an id. */
const few = { start: 0, count: 2 };
const fewEntries = { 'start-index': 1, 'max-results': 2 };
/** Words and cities that such a service has. */
const SEARCHES = ['小说', '的', 'the'];
const CITIES = ['beijing', 'shanghai', 'guangzhou'];
type IdName =
  | 'book'
  | 'isbn'
  | 'annotation'
  | 'series'
  | 'reader'
  | 'film'
  | 'person'
  | 'director'
  | 'event'
  | 'city'
  | 'guest'
  | 'organizer';
/** What the id in a path identifies, by the text before it. Of several names, the first with a known id is used. */
const namedIn = {
  '/v2/book/': ['book'],
  '/v2/book/isbn/': ['isbn'],
  '/v2/book/annotation/': ['annotation'],
  '/v2/book/series/': ['series'],
  '/v2/book/user_tags/': ['reader'],
  '/v2/book/user/': ['reader'],
  '/v2/movie/subject/': ['film'],
  '/v2/movie/celebrity/': ['person', 'director'],
  '/event/': ['event'],
  '/event/location/': ['city'],
  '/people/': ['guest', 'organizer'],
} as const satisfies Readonly<Record<TextBeforeId, readonly IdName[]>>;
/** A path with an id that is not named here does not compile. */
type TextBeforeId = Before<PathsReadIn<typeof bookEndpoints | typeof filmEndpoints | typeof eventEndpoints>>;
type Before<Path> = Path extends `${infer Text}:${string}` ? Text : never;
export const namesIn = ({ between: [text = ''] }: Endpoint): readonly IdName[] => namedIn[text as TextBeforeId] ?? [];
/** Not read: one is the same as another, one needs what a certain person has. */
const skipped: readonly Endpoint[] = [bookEndpoints.userTagsOld, bookEndpoints.collection];
/** An upstream that fails so often is not called again. */
const TRIALS = 3;
/** Only a person's token may read these. */
const LOGIN = "it needs a person's token";

export async function readEach(reader: ServiceReader): Promise<Unread> {
  const unread: Unread = new Map();
  const ids = new Map<string, string>();
  /** Reads an endpoint with an id, and remembers ids that its response has. */
  const step = async (
    endpoint: Endpoint,
    id: string | undefined,
    params: object,
    found: Record<string, string> = {},
  ) => {
    const [param] = endpoint.params;
    if (param !== undefined && id === undefined) return void unread.set(endpoint, 'no list had an id for it');
    const ofService = reader.reads.filter((each) => each.endpoint.service === endpoint.service);
    if (ofService.length >= TRIALS && ofService.every(isBroken))
      return void unread.set(endpoint, 'the upstream does not answer');
    const known = endpoint.isTiered ? tiersSeen(reader.reads) : [];
    if (known.length > 0 && !known.some((tier) => endpoint.tiers.includes(tier)))
      return void unread.set(endpoint, `the tier ${known.join(' or ')} does not get it`);
    const read = await reader.read(endpoint, { ...(param !== undefined && { [param]: id }), ...params });
    if (!read) return void unread.set(endpoint, 'the calls of this run were used up');
    for (const [name, path] of Object.entries(found)) remember(ids, name, idAt(read.value, path));
    return read;
  };
  const of = (name: string) => ids.get(name);
  /** Reads endpoints that no step reads. */
  const others = async (isWanted: (endpoint: Endpoint) => boolean) => {
    for (const endpoint of readEndpoints) {
      if (endpoint.login || skipped.includes(endpoint) || unread.has(endpoint) || isRead(reader, endpoint)) continue;
      const [id] = namesIn(endpoint).flatMap((name) => of(name) ?? []);
      const page = endpoint.paging === 'start-index' ? fewEntries : few;
      if (isWanted(endpoint)) await step(endpoint, id, endpoint.list === undefined ? {} : page);
    }
  };

  await firstWith(SEARCHES, async (q) => {
    const found = { book: 'books[].id', isbn: 'books[].isbn13', series: 'books[].series.id' };
    return step(bookEndpoints.search, undefined, { q, ...few }, found);
  });
  await firstWith(CITIES, async (city) => {
    ids.set('city', city);
    return step(eventEndpoints.ofCity, city, fewEntries, { event: 'entries[].id', organizer: 'entries[].author.id' });
  });
  await step(filmEndpoints.comingSoon, undefined, few, { film: 'subjects[].id' });
  await step(filmEndpoints.top250, undefined, few, { film: 'subjects[].id' });
  await step(filmEndpoints.weekly, undefined, {}, { film: 'subjects[].subject.id' });
  await step(filmEndpoints.inTheaters, undefined, few, { film: 'subjects[].id' });
  if (of('film') === undefined)
    await step(filmEndpoints.search, undefined, { q: SEARCHES[1], ...few }, { film: 'subjects[].id' });
  await step(filmEndpoints.subject, of('film'), {}, { person: 'casts[].id', director: 'directors[].id' });
  await step(filmEndpoints.celebrity, of('person') ?? of('director'), {});
  await step(bookEndpoints.byId, of('book'), {}, { series: 'series.id' });
  await step(bookEndpoints.annotations, of('book'), few, {
    annotation: 'annotations[].id',
    reader: 'annotations[].author_id',
  });
  await step(bookEndpoints.collections, of('reader'), few);
  await step(eventEndpoints.byId, of('event'), {}, { organizer: 'author.id' });
  await step(eventEndpoints.participants, of('event'), fewEntries, { guest: 'entries[].id' });
  await step(eventEndpoints.ofUser, of('guest') ?? of('organizer'), fewEntries);
  await step(filmEndpoints.photos, of('film'), few);
  await step(filmEndpoints.reviews, of('film'), few);
  await step(filmEndpoints.comments, of('film'), few);
  await step(filmEndpoints.works, of('person') ?? of('director'), few);
  await step(filmEndpoints.usBox, undefined, {});
  await step(filmEndpoints.newMovies, undefined, {});
  await step(bookEndpoints.tags, of('book'), few);
  await step(bookEndpoints.annotation, of('annotation'), {});
  await step(bookEndpoints.byIsbn, of('isbn'), {});
  await step(eventEndpoints.search, undefined, { location: 'all', q: SEARCHES[1], ...fewEntries });
  const seen = new Set(reader.reads.map(({ endpoint }) => typeOf(endpoint)));
  await others((endpoint) => !seen.has(typeOf(endpoint)));
  // The rest have types that were read by now.
  await step(eventEndpoints.wishers, of('event'), fewEntries);
  if (!isRead(reader, filmEndpoints.search)) await step(filmEndpoints.search, undefined, { q: SEARCHES[1], ...few });
  await others(() => true);
  for (const endpoint of readEndpoints)
    if (!isRead(reader, endpoint) && !unread.has(endpoint))
      unread.set(endpoint, endpoint.login ? LOGIN : 'it is the same as another, or needs what one person has');
  return unread;
}

const typeOf = ({ method, path }: Endpoint): string | undefined => readShapes[`${method} ${path}`];

const isRead = ({ reads }: ServiceReader, endpoint: Endpoint): boolean =>
  reads.some((read) => read.endpoint === endpoint);

/** Until a list has items, or the service gives none. */
async function firstWith(words: readonly string[], read: (word: string) => Promise<ServiceRead | undefined>) {
  for (const word of words) {
    const { value, endpoint } = (await read(word)) ?? {};
    const items =
      endpoint?.list === undefined ? undefined : (value as Record<string, unknown> | undefined)?.[endpoint.list];
    if (!Array.isArray(items) || items.length > 0) return;
  }
}

function remember(ids: Map<string, string>, name: string, id: string | undefined): void {
  if (id !== undefined && !ids.has(name)) ids.set(name, id);
}

/** The first id at a path like `books[].series.id`. */
function idAt(value: unknown, path: string): string | undefined {
  let found: unknown[] = [value];
  for (const name of path.split('.')) {
    const isList = name.endsWith('[]');
    const members = found.map((each) => (each as Record<string, unknown> | null)?.[isList ? name.slice(0, -2) : name]);
    found = (isList ? members.flat() : members).filter((each) => each !== undefined && each !== null);
  }
  const [first] = found;
  return (typeof first === 'string' && /^[\w.~-]{1,128}$/.test(first)) || typeof first === 'number'
    ? String(first)
    : undefined;
}
