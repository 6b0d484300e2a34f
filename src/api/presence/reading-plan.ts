/** What the doctor reads to see whether a service is as the tables say, in this order, and where it finds ids for the next. */
import { bookEndpoints } from '../book.ts';
import type { Endpoint, PathsReadIn } from '../endpoint.ts';
import { eventEndpoints } from '../event.ts';
import { filmEndpoints } from '../film.ts';
import { noteEndpoints } from '../note.ts';

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

export interface PlannedRead {
  readonly endpoint: Endpoint;
  /** What is sent besides the id. Of several, the next is tried if a list has no items. By default a short page of a list. */
  readonly inputs?: readonly Readonly<Record<string, unknown>>[];
  /** Where its response has ids. */
  readonly finds?: Readonly<Partial<Record<IdName, string>>>;
  /** It is not read if such an id is known. */
  readonly unlessFound?: IdName;
}

/** A list of one or two items is cheap; the second is taken where the first lacks an id. */
export const shortPage = ({ list, paging }: Endpoint): Readonly<Record<string, unknown>> =>
  list === undefined ? {} : paging === 'start' ? { start: 0, count: 2 } : { 'start-index': 1, 'max-results': 2 };
const pageOf = (endpoint: Endpoint, more: object) => [{ ...more, ...shortPage(endpoint) }];

/** Words and cities that such a service has. */
const WORDS = ['小说', '的', 'the'];
const CITIES = ['beijing', 'shanghai', 'guangzhou'];
/** A chart has no pages. */
const whole = [{}];
const searchFilms: PlannedRead = {
  endpoint: filmEndpoints.search,
  inputs: pageOf(filmEndpoints.search, { q: WORDS[1] }),
};
const inSubjects = { film: 'subjects[].id' };

/** First those whose types no other has. */
export const firstReads: readonly PlannedRead[] = [
  {
    endpoint: bookEndpoints.search,
    inputs: WORDS.flatMap((q) => pageOf(bookEndpoints.search, { q })),
    finds: { book: 'books[].id', isbn: 'books[].isbn13', series: 'books[].series.id' },
  },
  {
    endpoint: eventEndpoints.ofCity,
    inputs: CITIES.flatMap((id) => pageOf(eventEndpoints.ofCity, { id })),
    finds: { event: 'entries[].id', organizer: 'entries[].author.id' },
  },
  { endpoint: filmEndpoints.comingSoon, finds: inSubjects },
  { endpoint: filmEndpoints.top250, finds: inSubjects },
  { endpoint: filmEndpoints.weekly, inputs: whole, finds: { film: 'subjects[].subject.id' } },
  { endpoint: filmEndpoints.inTheaters, finds: inSubjects },
  { ...searchFilms, finds: inSubjects, unlessFound: 'film' },
  { endpoint: filmEndpoints.subject, finds: { person: 'casts[].id', director: 'directors[].id' } },
  { endpoint: filmEndpoints.celebrity },
  { endpoint: bookEndpoints.byId, finds: { series: 'series.id' } },
  { endpoint: bookEndpoints.annotations, finds: { annotation: 'annotations[].id', reader: 'annotations[].author_id' } },
  { endpoint: bookEndpoints.collections },
  { endpoint: eventEndpoints.byId, finds: { organizer: 'author.id' } },
  { endpoint: eventEndpoints.participants, finds: { guest: 'entries[].id' } },
  { endpoint: eventEndpoints.ofUser },
  { endpoint: filmEndpoints.photos },
  { endpoint: filmEndpoints.reviews },
  { endpoint: filmEndpoints.comments },
  { endpoint: filmEndpoints.works },
  { endpoint: filmEndpoints.usBox, inputs: whole },
  { endpoint: filmEndpoints.newMovies, inputs: whole },
  { endpoint: bookEndpoints.tags },
  { endpoint: bookEndpoints.annotation },
  { endpoint: bookEndpoints.byIsbn },
  { endpoint: eventEndpoints.search, inputs: pageOf(eventEndpoints.search, { location: 'all', q: WORDS[1] }) },
];

/** Their types were read by then. All others follow. */
export const lastReads: readonly PlannedRead[] = [{ endpoint: eventEndpoints.wishers }, searchFilms];

/** Not read: one is the same as another, one needs what a certain person has. */
export const skippedReads: readonly Endpoint[] = [bookEndpoints.userTagsOld, bookEndpoints.collection];

export const readEndpoints: readonly Endpoint[] = [bookEndpoints, filmEndpoints, eventEndpoints, noteEndpoints]
  .flatMap((table) => Object.values<Endpoint>(table))
  .filter(({ method }) => method === 'GET');
