/** The scripted upstream: computes the response to one request and token from the generated world. */
import { readers, writers } from '../../src/atom/media.ts';
import type { Endpoint, Tier } from '../../src/api/endpoint.ts';
import { serviceHeaders, visitorCookie } from '../../src/api/service-headers.ts';
import { bookEndpoints } from '../../src/api/book.ts';
import { serviceErrors } from '../../src/api/errors.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { madeBy } from './made-records.ts';
import * as data from './world.ts';
import type { World } from './world.ts';

/** Behaviour of the upstream that the interface does not specify; constant within a case. */
export interface Manners {
  /**
   * How `fields` is treated: `honoured`, `ignored`, `more` (one member in addition to those requested) or `records` (honoured for records,
   * ignored for the items of lists).
   */
  fields: 'honoured' | 'ignored' | 'more' | 'records';
  /** Lists have no total. */
  hidesTotals: boolean;
  /** Lists of notes, tags and series are complete, whatever page is requested. */
  ignoresWindows: boolean;
  /** Searches of books, reviews of films and feeds of events begin at their first item, whatever page is requested, and say so. */
  ignoresStarts: boolean;
  /** Lists of comments and annotations leave out some items of each page, and say where the next one begins. */
  hidesItems: boolean;
  /**
   * Its caching headers: those of the real service, a time for all answers, none, or those of the real service with `Vary: Authorization`,
   * and subtitles of books that differ between people.
   */
  caching: 'real' | 'timed' | 'none' | 'varying';
}

/** The sender of a request, identified by its token. */
export interface Sender {
  person: string | null;
  tier: Tier;
  /** The token is that of the facade. */
  isOwn?: boolean;
}

export interface Request_ {
  method: string;
  /** Path and query. */
  path: string;
  body: string;
  sender: Sender | 'unknown';
}
export interface Response_ {
  status: number;
  type: string;
  body: string;
  retryAfter?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** All headers, as the service sends them. */
export const headersOf = ({ type, retryAfter, headers }: Response_): Record<string, string> => ({
  'content-type': type,
  ...headers,
  ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
});
const realHeaders = { ...serviceHeaders, 'set-cookie': visitorCookie('AbCdEfGhIjK', 0) };
const headersBy: Readonly<Record<Manners['caching'], Readonly<Record<string, string>>>> = {
  real: realHeaders,
  timed: { ...realHeaders, 'cache-control': 'max-age=60' },
  none: {},
  varying: { ...realHeaders, vary: 'Accept-Encoding, Authorization' },
};

interface Route {
  endpoint: Endpoint;
  pattern: RegExp;
}
const routes: Route[] = [bookEndpoints, filmEndpoints, noteEndpoints, eventEndpoints]
  .flatMap((table) => Object.values(table) as Endpoint[])
  .map((endpoint) => ({
    endpoint,
    pattern: new RegExp(`^${endpoint.path.replace(/:\w+/g, '([^/]+)')}$`),
  }))
  // A path without variables goes before one that would match its last segment as an id.
  .sort(
    (a, b) => a.endpoint.params.length - b.endpoint.params.length || b.endpoint.path.length - a.endpoint.path.length,
  );

const routesFound = new Map<string, { endpoint: Endpoint; params: Record<string, string> } | null>();

/** The row of the interface that a request line belongs to. */
export function routeOf(method: string, path: string): { endpoint: Endpoint; params: Record<string, string> } | null {
  const key = `${method} ${path}`;
  let found = routesFound.get(key);
  if (found === undefined) {
    found = findRoute(method, path);
    if (routesFound.size > 5_000) routesFound.clear();
    routesFound.set(key, found);
  }
  return found;
}
function findRoute(method: string, path: string) {
  for (const { endpoint, pattern } of routes) {
    const match = endpoint.method === method ? pattern.exec(path) : null;
    if (!match) continue;
    const params = Object.fromEntries(endpoint.params.map((name, at) => [name, decodeURIComponent(match[at + 1]!)]));
    return { endpoint, params };
  }
  return null;
}

class ServiceError extends Error {
  readonly code: number;
  readonly status: number | undefined;
  constructor(code: number, status?: number) {
    super(`code ${code}`);
    this.code = code;
    this.status = status;
  }
}
const refuse = (code: number, status?: number): never => {
  throw new ServiceError(code, status);
};

export const respond = (world: World, manners: Manners, request: Request_): Response_ => ({
  ...answerTo(world, manners, request),
  headers: headersBy[manners.caching],
});

function answerTo(world: World, manners: Manners, { method, path, body, sender }: Request_): Response_ {
  const mark = path.indexOf('?');
  const bare = mark < 0 ? path : path.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : path.slice(mark + 1));
  const route = routeOf(method, bare);
  const line = `${method} ${bare}`;
  try {
    if (!route) return refuse(999);
    if (sender === 'unknown') return refuse(103, 401);
    const { endpoint, params } = route;
    if (endpoint.login && sender.person === null) return endpoint.service === 'events' ? refuse(1000) : refuse(1000);
    if (endpoint.share === 'tier' && !endpoint.tiers.includes(sender.tier)) refuse(1000);
    const asked: Asked = { world, manners, endpoint, params, query, sender, body };
    const answer = (answers.get(endpoint) ?? byType)(asked);
    const shown = manners.caching === 'varying' ? withSubtitlesFor(sender, answer) : answer;
    return written(endpoint, shown, query.get('fields'), manners);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const known = serviceErrors[error.code as keyof typeof serviceErrors] as
      { msg: string; status: number } | undefined;
    return {
      status: error.status ?? known?.status ?? 400,
      type: 'application/json',
      body: JSON.stringify({ msg: known?.msg ?? 'no', code: error.code, request: line }),
    };
  }
}

function written(endpoint: Endpoint, answer: unknown, fields: string | null, manners: Manners): Response_ {
  const { media, status, list } = endpoint;
  if (media === 'empty') return { status, type: 'text/plain', body: '' };
  if (media !== 'json')
    return {
      status,
      type: 'application/atom+xml',
      body: (writers[media] as (record: never) => string)(answer as never),
    };
  return {
    status,
    type: 'application/json',
    body: JSON.stringify(fields ? narrowed(answer, list, fields, manners) : answer),
  };
}

/** The facade's own token reads what everybody reads. */
function withSubtitlesFor(sender: Sender, value: unknown): unknown {
  const reader = sender.isOwn || sender.person === null ? 'everybody' : sender.person;
  if (Array.isArray(value)) return value.map((item) => withSubtitlesFor(sender, item));
  if (typeof value !== 'object' || value === null) return value;
  const shown = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withSubtitlesFor(sender, each)]));
  return 'subtitle' in shown ? { ...shown, subtitle: `for ${reader}` } : shown;
}

function narrowed(answer: unknown, list: string | undefined, fields: string, { fields: how }: Manners): unknown {
  if (how === 'ignored' || (how === 'records' && list !== undefined)) return answer;
  const names = new Set(fields.split(','));
  const pick = (item: unknown) => {
    if (typeof item !== 'object' || item === null) return item;
    const entries = Object.entries(item);
    const kept = entries.filter(([name]) => names.has(name));
    const more =
      how === 'more' ? entries.find(([name]) => !names.has(name) && name !== 'current_user_collection') : undefined;
    return Object.fromEntries(more ? [...kept, more] : kept);
  };
  if (list === undefined) return pick(answer);
  const items = (answer as Record<string, unknown>)[list];
  return { ...(answer as object), [list]: Array.isArray(items) ? items.map(pick) : items };
}

interface Asked {
  world: World;
  manners: Manners;
  endpoint: Endpoint;
  params: Record<string, string>;
  query: URLSearchParams;
  sender: Sender;
  body: string;
}
type Answer = (asked: Asked) => unknown;
const answers = new Map<Endpoint, Answer>();
const on = <In, Out>(endpoint: Endpoint<In, Out>, answer: Answer) => void answers.set(endpoint, answer);

/** The answer of an endpoint without one of its own: records made from their type for a read; a write is refused. */
const byType: Answer = (asked) => {
  const { world, endpoint, params, query } = asked;
  if (endpoint.method !== 'GET') return refuse(1000);
  const record = madeBy(world, endpoint, { ...Object.fromEntries(query), ...params });
  const items = endpoint.list === undefined ? undefined : (record[endpoint.list] as unknown[]);
  if (!items) return record;
  return endpoint.service === 'events' ? feed(asked, items, 'Made') : listed(asked, items);
};

/** One page of a v2 list. */
function listed({ endpoint, query, manners }: Asked, items: readonly unknown[], more: object = {}, byDefault = 20) {
  const isFirst = manners.ignoresStarts && [bookEndpoints.search, filmEndpoints.reviews].includes(endpoint as never);
  const start = isFirst ? 0 : Number(query.get('start') ?? 0);
  const count = Math.min(Number(query.get('count') ?? byDefault), 100);
  const isWhole =
    manners.ignoresWindows && [noteEndpoints.userCreated, bookEndpoints.seriesBooks].includes(endpoint as never);
  const hides =
    manners.hidesItems &&
    [filmEndpoints.comments, noteEndpoints.comments, bookEndpoints.annotations].includes(endpoint as never);
  const page = isWhole ? items : items.slice(start, start + count);
  return {
    start,
    count,
    ...(manners.hidesTotals ? {} : { total: items.length }),
    ...(hides ? { next_start: start + count } : {}),
    ...more,
    [endpoint.list!]: hides ? page.filter((_, at) => (start + at) % 3 !== 2) : page,
  };
}
function feed({ endpoint, query, manners }: Asked, entries: readonly unknown[], title: string, more: object = {}) {
  const { ofCity, search, participants } = eventEndpoints;
  const isFirst = manners.ignoresStarts && [ofCity, search, participants].includes(endpoint as never);
  const isWhole = manners.ignoresWindows && [ofCity, participants].includes(endpoint as never);
  const start = isFirst ? 1 : Math.max(1, Number(query.get('start-index') ?? 1));
  const count = Math.min(Number(query.get('max-results') ?? 20), 50);
  return {
    title,
    ...more,
    startIndex: start,
    itemsPerPage: count,
    ...(manners.hidesTotals ? {} : { totalResults: entries.length }),
    entries: isWhole ? entries : entries.slice(start - 1, start - 1 + count),
  };
}
const found = <T>(record: T | null | undefined, code: number, status?: number): T => record ?? refuse(code, status);

// Books

/** A book with the collection of the sender. */
function bookFor({ world, sender: { person } }: Asked, id: string) {
  const record = data.book(world, id);
  if (!record || person === null) return record;
  const shelved = data.collection(world, person, id);
  return shelved ? { ...record, current_user_collection: data.shortCollection(shelved) } : record;
}
const maySee = (each: { isPrivate: boolean }, owner: string, { sender: { person } }: Asked): boolean =>
  !each.isPrivate || person === owner;
const shownAnnotation = ({ isPrivate: _, ...record }: data.Annotation_, { query }: Asked) =>
  query.get('format') === 'html' ? { ...record, content: `<div>${record.content}</div>` } : record;
const isPerson = (name: string): boolean => (data.ids.user as readonly string[]).includes(name);
const knownPerson = (name: string): string => (isPerson(name) ? name : refuse(6008));

on(bookEndpoints.byId, (asked) => found(bookFor(asked, asked.params.id!), 6000));
on(bookEndpoints.byIsbn, (asked) => {
  const id = data.ids.book.find((each) => data.book(asked.world, each)?.isbn13 === asked.params.isbn);
  return found(id && bookFor(asked, id), 6000);
});
on(bookEndpoints.search, (asked) => {
  const random = asked.world.random(`search ${asked.query.get('q')} ${asked.query.get('tag')}`);
  const books = random
    .shuffled(data.ids.book)
    .slice(0, random.int(0, 6))
    .flatMap((id) => bookFor(asked, id) ?? []);
  return listed(asked, books);
});
on(bookEndpoints.tags, (asked) => {
  found(data.book(asked.world, asked.params.id!), 6000);
  return listed(asked, data.tagsIn(data.bookTags(asked.world, asked.params.id!)), {}, 50);
});
const tagsOfPerson: Answer = (asked) => {
  const name = knownPerson(asked.params.name ?? asked.params.id!);
  return listed(asked, data.tagsIn(data.bookTags(asked.world, `of ${name}`)));
};
on(bookEndpoints.userTags, tagsOfPerson);
on(bookEndpoints.userTagsOld, tagsOfPerson);
on(bookEndpoints.collections, (asked) => {
  const name = knownPerson(asked.params.name!);
  const status = asked.query.get('status');
  const shelf = data.ids.book.flatMap((id) => data.collection(asked.world, name, id) ?? []);
  const shown = shelf.filter((each) => !each.isPrivate && (status === null || each.status === status));
  return listed(
    asked,
    shown.map((each) => data.wholeCollection(asked.world, each)),
  );
});
on(bookEndpoints.collection, (asked) => {
  const { world, sender, params, query } = asked;
  const owner = query.get('user_id') ?? sender.person ?? refuse(1001);
  const shelved = data.collection(world, owner, params.id!);
  return shelved && maySee(shelved, owner, asked) ? data.wholeCollection(world, shelved) : refuse(1001);
});
on(bookEndpoints.userAnnotations, (asked) => {
  const name = knownPerson(asked.params.name!);
  const all = data.annotationsWith(asked.world, (each) => each.author_id === name && maySee(each, name, asked));
  return listed(
    asked,
    all.map((each) => shownAnnotation(each, asked)),
  );
});
on(bookEndpoints.annotations, (asked) => {
  found(data.book(asked.world, asked.params.id!), 6000);
  const all = data.annotationsWith(
    asked.world,
    (each) => each.book_id === asked.params.id && maySee(each, each.author_id, asked),
  );
  return listed(
    asked,
    all.map((each) => shownAnnotation(each, asked)),
  );
});
on(bookEndpoints.annotation, (asked) => {
  const record = found(data.annotation(asked.world, asked.params.id!), 1001);
  return maySee(record, record.author_id, asked) ? shownAnnotation(record, asked) : refuse(1000);
});
on(bookEndpoints.seriesBooks, (asked) => {
  const books = found(data.booksOf(asked.world, asked.params.id!), 6014);
  return listed(
    asked,
    books.flatMap((id) => bookFor(asked, id) ?? []),
  );
});

/** The values of a form. */
const draftIn = ({ body }: Asked): Record<string, string> => Object.fromEntries(new URLSearchParams(body));
const me = ({ sender }: Asked): string => sender.person!;

function shelve(asked: Asked, isNew: boolean): object {
  const { world, params } = asked;
  const person = me(asked);
  const id = params.id!;
  found(data.book(world, id), 6000);
  const before = data.collection(world, person, id);
  if (isNew && before) refuse(6011);
  if (!isNew && !before) refuse(1001);
  const { status, tags, comment, privacy, rating } = draftIn(asked);
  const isPrivate = privacy === 'private';
  const secret = data.secretOf(person);
  const shelved: data.Shelved = {
    id: before?.id ?? 8000 + world.made++,
    book_id: id,
    user_id: person,
    status: status ?? 'wish',
    updated: `2021-06-07 08:09:${String(10 + (world.shelf.size % 40))}`,
    ...(rating ? { rating: { max: 5, min: 0, value: rating } } : {}),
    ...(tags ? { tags: tags.split(' ') } : {}),
    ...(comment ? { comment: isPrivate ? `${secret} ${comment}` : comment } : {}),
    isPrivate,
  };
  world.shelf.set(`${person}:${id}`, shelved);
  return data.wholeCollection(world, shelved);
}
on(bookEndpoints.collect, (asked) => shelve(asked, true));
on(bookEndpoints.updateCollection, (asked) => shelve(asked, false));
on(bookEndpoints.deleteCollection, (asked) => {
  const key = `${me(asked)}:${asked.params.id!}`;
  found(data.collection(asked.world, me(asked), asked.params.id!), 1001);
  asked.world.shelf.set(key, null);
  return null;
});
on(bookEndpoints.annotate, (asked) => {
  const { world, params } = asked;
  const person = me(asked);
  const within = found(data.book(world, params.id!), 6000);
  const { content = '', page, chapter, privacy } = draftIn(asked);
  const isPrivate = privacy === 'private';
  const text = isPrivate ? `${data.secretOf(person)} ${content}` : content;
  const made = {
    id: String(4100 + world.made++),
    book_id: params.id!,
    book: within,
    author_id: person,
    author_user: data.user(world, person),
    ...(page ? { page_no: Number(page) } : {}),
    ...(chapter ? { chapter } : {}),
    privacy: isPrivate ? 0 : 2,
    abstract: text.slice(0, 10),
    content: text,
    time: '2021-06-07 08:09:10',
    isPrivate,
  } as data.Annotation_;
  world.annotations.set(made.id, made);
  return shownAnnotation(made, asked);
});
on(bookEndpoints.deleteAnnotation, (asked) => {
  const { world, params } = asked;
  const record = found(data.annotation(world, params.id!), 1001);
  if (record.author_id !== me(asked)) refuse(6002);
  world.annotations.set(params.id!, null);
  return null;
});
on(bookEndpoints.createReview, (asked) => {
  const { world } = asked;
  const { book = '', title, content, rating } = draftIn(asked);
  found(data.book(world, book), 6000);
  const given = rating ? { rating: { max: 5, min: 0, value: rating } } : {};
  return data.review(9000 + world.made++, book, world, me(asked), { title, content, ...given });
});
for (const endpoint of [bookEndpoints.updateAnnotation, bookEndpoints.updateReview, bookEndpoints.deleteReview])
  on(endpoint as Endpoint, () => refuse(6002));

// Films

const filmFor = ({ world, sender: { tier } }: Asked, id: string) => {
  const record = data.subject(world, id);
  return record && data.forTier(record, data.tierMembers.subject, tier);
};
on(filmEndpoints.subject, (asked) => found(filmFor(asked, asked.params.id!), 5000));
on(filmEndpoints.celebrity, ({ world, params, sender: { tier } }) =>
  data.forTier(found(data.wholeCelebrity(world, params.id!), 5000), data.tierMembers.celebrity, tier),
);
const ofFilm =
  (items: (world: World, id: string) => readonly unknown[]): Answer =>
  (asked) => {
    const { world, params } = asked;
    found(data.subject(world, params.id!), 5000);
    return listed(asked, items(world, params.id!), { subject: data.simpleSubjectOf(world, params.id!) }, 10);
  };
on(
  filmEndpoints.photos,
  ofFilm((world, id) => data.photosOf(world, 'subject', id)),
);
on(filmEndpoints.reviews, ofFilm(data.reviewsOf));
on(filmEndpoints.comments, ofFilm(data.commentsOf));
const ofPerson =
  (items: (world: World, id: string) => readonly unknown[], byDefault: number): Answer =>
  (asked) => {
    const { world, params } = asked;
    found(data.celebrity(world, params.id!), 5000);
    return listed(asked, items(world, params.id!), { celebrity: data.creditOf(world, params.id!) }, byDefault);
  };
on(filmEndpoints.works, ofPerson(data.worksOf, 5));
on(
  filmEndpoints.celebrityPhotos,
  ofPerson((world, id) => data.photosOf(world, 'celebrity', id), 10),
);
const chart =
  (name: string, most: number, byDefault: number): Answer =>
  (asked) => {
    const { world, query } = asked;
    const films = data.chartOf(world, `${name} ${query.get('q')} ${query.get('tag')} ${query.get('city')}`, most);
    return listed(
      asked,
      films.map((id) => data.simpleSubjectOf(world, id)),
      { title: `Chart ${name}` },
      byDefault,
    );
  };
on(filmEndpoints.search, chart('search', 8, 20));
on(filmEndpoints.top250, chart('top250', 14, 10));
on(filmEndpoints.inTheaters, chart('theaters', 6, 20));
on(filmEndpoints.comingSoon, chart('soon', 6, 20));
on(filmEndpoints.newMovies, ({ world }) => ({
  title: 'New',
  subjects: data.chartOf(world, 'new', 6).map((id) => data.simpleSubjectOf(world, id)),
}));
on(filmEndpoints.usBox, ({ world }) => ({
  title: 'Box',
  date: '7月27日 - 7月29日',
  subjects: data.chartOf(world, 'box', 6).map((id, index) => ({
    rank: index + 1,
    box: 1_000_000 - index,
    new: index % 2 === 0,
    subject: data.simpleSubjectOf(world, id),
  })),
}));
on(filmEndpoints.weekly, ({ world }) => ({
  title: 'Week',
  subjects: data.chartOf(world, 'week', 6).map((id, index) => ({
    rank: index + 1,
    delta: index - 2,
    subject: data.simpleSubjectOf(world, id),
  })),
}));

// Notes

function noteFor(asked: Asked, id: string) {
  const record = found(data.note(asked.world, id), 1006);
  if (record.privacy === 'private' && asked.sender.person !== record.author) refuse(1000);
  return shownNote(record, asked);
}
function shownNote({ author: _, ...record }: NonNullable<ReturnType<typeof data.note>>, { query }: Asked) {
  const format = query.get('format') ?? 'text';
  return format === 'text' ? record : { ...record, content: `<${format}>${record.content}` };
}
on(noteEndpoints.byId, (asked) => noteFor(asked, asked.params.id!));
on(noteEndpoints.userCreated, (asked) => {
  const name = knownPerson(asked.params.id!);
  const notes = data.ids.note.flatMap((id) => data.note(asked.world, id) ?? []);
  const shown = notes.filter(
    ({ author, privacy }) => author === name && (privacy !== 'private' || name === asked.sender.person),
  );
  return listed(
    asked,
    shown.map((each) => shownNote(each, asked)),
  );
});
on(noteEndpoints.comments, (asked) => {
  noteFor(asked, asked.params.id!);
  return listed(asked, data.noteComments(asked.world, asked.params.id!));
});
on(noteEndpoints.comment, (asked) => {
  const { world, params } = asked;
  noteFor(asked, params.id!);
  return found(
    data.noteComments(world, params.id!).find(({ id }) => id === params.comment_id),
    1006,
  );
});
on(noteEndpoints.createComment, (asked) => {
  const { world, params } = asked;
  noteFor(asked, params.id!);
  const made = {
    id: String(50 + world.made++),
    content: draftIn(asked).content ?? '',
    created: '2021-06-07 08:09:10',
    author: data.user(world, me(asked)),
  };
  world.comments.set(`${params.id}:${made.id}`, made);
  return made;
});
on(noteEndpoints.deleteComment, (asked) => {
  const { world, params } = asked;
  noteFor(asked, params.id!);
  found(
    data.noteComments(world, params.id!).find(({ id }) => id === params.comment_id),
    1006,
  );
  world.comments.set(`${params.id}:${params.comment_id}`, null);
  return {};
});
const liking =
  (step: number): Answer =>
  (asked) => {
    const id = asked.params.id!;
    noteFor(asked, id);
    asked.world.likes.set(id, (asked.world.likes.get(id) ?? 0) + step);
    return {};
  };
on(noteEndpoints.like, liking(1));
on(noteEndpoints.unlike, liking(-1));
for (const endpoint of [noteEndpoints.create, noteEndpoints.update, noteEndpoints.delete, noteEndpoints.addPictures])
  on(endpoint as Endpoint, () => refuse(1004));

// Events

function eventFor({ world, sender: { person } }: Asked, id: string, isInFeed: boolean) {
  const record = data.event(world, id);
  if (!record) return null;
  const { city: _, owner, author, ...entry } = record;
  const joined = [...world.relations].filter(([key]) => key.endsWith(`:${id}`)).length;
  const relation = person === null ? null : person === owner ? 'initiate' : data.relationOf(world, person, id);
  return {
    ...entry,
    ...(author && !isInFeed ? { author } : {}),
    ...(entry.participants ? { participants: String(Number(entry.participants) + joined) } : {}),
    ...(relation ? { status: relation } : {}),
  };
}
const events = (asked: Asked, holds: (each: data.Event_) => boolean, isInFeed = true) =>
  data
    .eventsOf(asked.world)
    .filter(holds)
    .map(({ id }) => eventFor(asked, id, isInFeed)!);

on(eventEndpoints.byId, (asked) => found(eventFor(asked, asked.params.id!, false), 1001));
const guests =
  (as: 'participate' | 'wish'): Answer =>
  (asked) => {
    const { world, params } = asked;
    found(data.event(world, params.id!), 1001);
    return feed(
      asked,
      data.guestsOf(world, params.id!, as).map((id) => data.personEntry(world, id)),
      'Guests',
    );
  };
on(eventEndpoints.participants, guests('participate'));
on(eventEndpoints.wishers, guests('wish'));
const ofGuest =
  (holds: (asked: Asked, each: data.Event_) => boolean): Answer =>
  (asked) => {
    const name = asked.params.id!;
    if (!isPerson(name) && !name.startsWith('site')) refuse(6008);
    return feed(
      asked,
      events(asked, (each) => holds(asked, each), false),
      `${name}的活动`,
      { author: data.atomPerson(asked.world, name) },
    );
  };
const relates = ({ world, params }: Asked, { id, owner }: data.Event_) =>
  owner === params.id ? 'initiate' : data.relationOf(world, params.id!, id);
on(
  eventEndpoints.ofUser,
  ofGuest((asked, each) => relates(asked, each) !== null),
);
on(
  eventEndpoints.initiated,
  ofGuest((asked, each) => relates(asked, each) === 'initiate'),
);
on(
  eventEndpoints.participated,
  ofGuest((asked, each) => relates(asked, each) === 'participate'),
);
on(
  eventEndpoints.wished,
  ofGuest((asked, each) => relates(asked, each) === 'wish'),
);
on(eventEndpoints.ofCity, (asked) => {
  const { params, query } = asked;
  const type = query.get('type');
  return feed(
    asked,
    events(
      asked,
      ({ location, term }) => location?.id === params.id && (!type || type === 'all' || !!term?.endsWith(type)),
    ),
    '豆瓣同城',
  );
});
on(eventEndpoints.search, (asked) => {
  const city = asked.query.get('location');
  const q = asked.query.get('q') ?? '';
  return feed(
    asked,
    events(asked, (each) => (city === 'all' || each.location?.id === city) && each.title.includes(q)),
    '搜索',
  );
});
const attend =
  (as: 'participate' | 'wish' | null): Answer =>
  (asked) => {
    const id = asked.params.id!;
    found(data.event(asked.world, id), 1001, 404);
    asked.world.relations.set(`${me(asked)}:${id}`, as);
    return null;
  };
on(eventEndpoints.join, attend('participate'));
on(eventEndpoints.wish, attend('wish'));
on(eventEndpoints.leave, attend(null));
on(eventEndpoints.unwish, attend(null));
for (const endpoint of [eventEndpoints.create, eventEndpoints.update, eventEndpoints.delete])
  on(endpoint as Endpoint, () => refuse(1000));

/** A document of an event or a feed, read by the Atom reader of the facade. */
export const readAtom = (media: keyof typeof readers, body: string): unknown => readers[media](body);
