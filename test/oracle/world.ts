/**
 * The generated data behind the scripted upstream: records in the shapes of the interface, with the oddities of the real service.
 *
 * Everything is a function of the seed and an id, and an embedded record never contradicts the record itself. Writes go to a few tables,
 * which can be copied, so that a reference run starts from the same state as the product.
 */
import { termOf } from '../../src/atom/media.ts';
import type {
  AnnotationRecord,
  BookRecord,
  BookTag,
  CollectionRecord,
  ReviewRecord,
  TagRecord,
} from '../../src/api/book.ts';
import type { Tier } from '../../src/api/endpoint.ts';
import { type AtomPerson, type EventRecord, eventTypes } from '../../src/api/event.ts';
import {
  type CelebrityRecord,
  type FilmCommentRecord,
  type FilmReviewRecord,
  type PersonCredit,
  type PhotoRecord,
  type SubjectRecord,
  type WorkRecord,
  celebrityMembers,
  subjectMembers,
} from '../../src/api/film.ts';
import type { NoteCommentRecord, NoteRecord } from '../../src/api/note.ts';
import type { UserRecord } from '../../src/api/user.ts';
import { type Random, createRandom, hashOf } from './random.ts';

/** Ids of each kind, and words, for operations. */
export type Ids = Readonly<Record<keyof typeof ids | 'word' | 'tag', readonly string[]>> & {
  /** Of the people with tokens, by their names. */
  readonly person: Readonly<Record<string, string>>;
};

/** The last of most kinds does not exist. */
export const ids = {
  book: ['1', '2', '3', '5', '6', '4'],
  subject: ['101', '102', '103', '105', '104'],
  celebrity: ['201', '202', '203', '204'],
  series: ['31', '32', '34'],
  annotation: ['401', '402', '403', '405', '406', '404'],
  note: ['501', '502', '503', '505', '504'],
  event: ['601', '602', '603', '605', '604'],
  user: ['alice', 'bob', 'carol', 'u1', 'u2'],
  city: ['beijing', '108288', 'nowhere'],
  comment: ['1', '2', '3', '9'],
  isbn: ['9787111111119', '9787222222225', '9787333333331', '9787444444447'],
} as const;
export const worldIds: Ids = {
  ...ids,
  word: ['x', 'Event'],
  tag: ['novel'],
  person: { alice: 'alice', bob: 'bob', carol: 'carol' },
};
const absent = new Set<string>(['4', '104', '204', '34', '404', '504', '604', 'nowhere']);

/** People with tokens, and the tier of each token. */
export const people: Readonly<Record<string, Tier>> = { alice: 'basic', bob: 'advance', carol: 'premium' };
export type Person = keyof typeof people;
export const tokenOf = (person: string): string => `token-of-${person}`;

/** Marks all data that only this person may read. */
export const secretOf = (person: string): string => `SECRET-${person}`;
const secretTimes: Readonly<Record<string, string>> = {
  alice: '2011-01-11 11:11:11',
  bob: '2012-02-12 12:12:12',
  carol: '2013-03-13 13:13:13',
};
/** All marks of private data, as they occur in records and in responses. */
export const secretsOf = (person: string): string[] => [
  secretOf(person),
  ...(secretTimes[person] ? [secretTimes[person], secretTimes[person].replace(' ', 'T')] : []),
];

export interface Shelved extends CollectionRecord {
  isPrivate: boolean;
}
interface State {
  /** By `user:book`; null after removal. */
  shelf: Map<string, Shelved | null>;
  likes: Map<string, number>;
  comments: Map<string, NoteCommentRecord | null>;
  relations: Map<string, 'participate' | 'wish' | null>;
  annotations: Map<string, Annotation_ | null>;
  made: number;
}
export interface Annotation_ extends AnnotationRecord {
  isPrivate: boolean;
}

export interface World extends State {
  seed: number;
  copy: () => World;
  isAbsent: (id: string) => boolean;
  random: (what: string) => Random;
}

export function createWorld(seed: number, state?: State): World {
  const own: State = state ?? {
    shelf: new Map(),
    likes: new Map(),
    comments: new Map(),
    relations: new Map(),
    annotations: new Map(),
    made: 0,
  };
  return {
    ...own,
    seed,
    copy() {
      return createWorld(seed, {
        shelf: new Map(this.shelf),
        likes: new Map(this.likes),
        comments: new Map(this.comments),
        relations: new Map(this.relations),
        annotations: new Map(this.annotations),
        made: this.made,
      });
    },
    isAbsent: (id) => absent.has(id),
    random: (what) => createRandom(`${seed} ${what}`),
  };
}

const url = (random: Random, path: string): string =>
  random.weighted([
    [6, `https://img${random.int(1, 9)}.example/${path}`],
    [2, `http://img3.example/view/${path}.webp`],
    [1, ''],
  ]);
const words = (random: Random): string =>
  random.weighted([
    [8, `文字 ${random.int(1, 99)}`],
    [1, ' text with space '],
    [1, 'one\r\ntwo\n\nthree'],
    [1, 'raw \u2028 and "quotes" / slash'],
  ]);
const maybe = <T>(random: Random, share: number, value: T): T | undefined => (random.chance(share) ? value : undefined);
const stamp = (random: Random): string =>
  random.weighted([
    [8, `20${random.int(10, 19)}-0${random.int(1, 9)}-1${random.int(0, 9)} 0${random.int(0, 9)}:12:34`],
    [1, ''],
    [1, '2012-02-31 25:00:00'],
  ]);
const images = (random: Random, path: string) =>
  random.weighted<object | undefined>([
    [6, { small: url(random, `s${path}`), medium: url(random, `m${path}`), large: url(random, `l${path}`) }],
    [
      1,
      { small: 'https://img3.example/same', medium: 'https://img3.example/same', large: 'https://img3.example/same' },
    ],
    [1, { medium: `https://img1.example/m${path}` }],
    [1, undefined],
  ]);
/** A list of ids of a kind; some do not exist. */
const idsIn = (random: Random, from: readonly string[], most: number): string[] => {
  const many = random.int(0, most);
  return Array.from({ length: many }, () => random.pick(from));
};
/** Removes undefined members, as JSON does. */
const plain = <T extends object>(record: T): T => JSON.parse(JSON.stringify(record)) as T;

const memos = new Map<string, unknown>();
/** Caches records by seed, because a case reads the same few many times. They must not be modified. */
function once<T>(world: World, what: string, make: (random: Random) => T): T {
  const key = `${world.seed} ${what}`;
  let made = memos.get(key) as T | undefined;
  if (made === undefined) {
    made = make(world.random(what));
    if (memos.size > 3_000) memos.clear();
    memos.set(key, made);
  }
  return made;
}

// Books

export function book(world: World, id: string): BookRecord | null {
  if (world.isAbsent(id) || !(ids.book as readonly string[]).includes(id)) return null;
  return once(world, `Book ${id}`, (random) =>
    plain({
      id,
      isbn10: maybe(random, 0.7, '7111111112'),
      isbn13: ids.isbn[Number(id) % 4]!,
      title: random.chance(0.9) ? `Book ${id} ${words(random)}` : '',
      origin_title: random.weighted([
        [1, ''],
        [1, words(random)],
      ]),
      alt_title: maybe(random, 0.8, words(random)),
      subtitle: maybe(random, 0.9, random.chance(0.5) ? '' : words(random)),
      url: `https://api.example/v2/book/${id}`,
      alt: url(random, `book/${id}`),
      image: maybe(random, 0.8, url(random, `b${id}`)),
      images: images(random, id) as BookRecord['images'],
      author: random.weighted<unknown>([
        [5, ['[美] A', 'B']],
        [1, ['', 'C']],
        [1, []],
        [1, undefined],
      ]),
      translator: maybe(random, 0.8, random.chance(0.5) ? [] : ['T']),
      publisher: maybe(random, 0.9, random.pick(['出版社', ''])),
      pubdate: maybe(random, 0.95, random.pick(['2010-9', '2010-9-1', '2009年11月', '1976', ''])),
      rating: random.weighted<unknown>([
        [6, { max: 10, min: 0, numRaters: random.int(1, 900), average: random.pick(['8.7', '7.0', '9.1']) }],
        [2, { max: 10, min: 0, numRaters: 0, average: '0.0' }],
        [1, undefined],
      ]),
      tags: bookTags(world, id).slice(0, 8),
      binding: maybe(random, 0.95, random.pick(['平装', ''])),
      price: maybe(random, 0.95, random.pick(['39.50元', '39.50', 'CNY 39.50', ''])),
      series: seriesOf(world, id),
      pages: maybe(random, 0.95, random.pick(['320', '320页', ''])),
      author_intro: maybe(random, 0.9, words(random)),
      summary: maybe(random, 0.9, words(random)),
      catalog: maybe(random, 0.9, random.pick(['one\r\n two\nthree', ' ', ''])),
      ebook_url: maybe(random, 0.4, 'https://read.example/1'),
      ebook_price: maybe(random, 0.4, '6.00'),
      share_url: 'https://m.example/share',
    } as unknown as BookRecord),
  );
}

export const bookTags = (world: World, id: string): BookTag[] =>
  once(world, `tags ${id}`, (random) =>
    Array.from({ length: random.int(0, 14) }, (_, index) => ({
      count: 100 - index,
      name: `tag${index}`,
      title: `tag${index}`,
    })),
  );
export const tagsIn = (tags: readonly BookTag[]): TagRecord[] =>
  tags.map(({ count, title = '' }) => ({ count, title }));

/** The series of a book. */
function seriesOf(world: World, bookId: string): BookRecord['series'] {
  const random = world.random(`series of ${bookId}`);
  if (random.chance(0.3)) return undefined;
  const id = random.pick(['31', '32']);
  return { id, title: `Series ${id}` };
}
export const booksOf = (world: World, series: string): string[] | null =>
  world.isAbsent(series) || !['31', '32'].includes(series)
    ? null
    : ids.book.filter((id) => !world.isAbsent(id) && seriesOf(world, id)?.id === series);

export function collection(world: World, user: string, bookId: string): Shelved | null {
  const key = `${user}:${bookId}`;
  if (world.shelf.has(key)) return world.shelf.get(key)!;
  if (!book(world, bookId) || !(ids.user as readonly string[]).includes(user)) return null;
  return once(world, `Collection ${key}`, (random) => {
    if (random.chance(0.4)) return null;
    const isPrivate = random.chance(0.4) && user in people;
    return plain({
      id: 7000 + (hashOf(key) % 1000),
      book_id: bookId,
      user_id: user,
      status: random.pick(['wish', 'reading', 'read', 'odd']),
      rating: maybe(random, 0.6, {
        max: 5,
        min: 0,
        value: random.pick(['4', '5', '0']),
      }),
      comment: isPrivate ? `${secretOf(user)} comment` : maybe(random, 0.5, words(random)),
      tags: maybe(random, 0.5, ['novel', '']),
      updated: isPrivate ? secretTimes[user]! : stamp(random),
      isPrivate,
    });
  });
}

/** The value of `current_user_collection`. */
export const shortCollection = ({ id, book_id, user_id, status, rating, updated }: Shelved): CollectionRecord =>
  plain({ id, book_id, user_id, status, rating, updated });

export function wholeCollection(world: World, shelved: Shelved): CollectionRecord {
  const { isPrivate: _, ...collected } = shelved;
  const within = book(world, shelved.book_id);
  return { ...collected, ...(within ? { book: within } : {}) };
}

/** Annotations have ids from 401; the seed decides their books and authors. */
export function annotation(world: World, id: string): Annotation_ | null {
  if (world.annotations.has(id)) return world.annotations.get(id)!;
  if (world.isAbsent(id) || !(ids.annotation as readonly string[]).includes(id)) return null;
  return once(world, `Annotation ${id}`, (random) => {
    const author = random.pick(['alice', 'bob', 'carol', 'u1']);
    const isPrivate = author !== 'u1' && random.chance(0.4);
    const bookId = random.pick(ids.book);
    const text = isPrivate ? `${secretOf(author)} note` : `content ${words(random)}`;
    const within = book(world, bookId);
    return plain({
      id,
      book_id: bookId,
      book: random.chance(0.8) ? (within ?? undefined) : undefined,
      author_id: author,
      author_user: maybe(random, 0.8, user(world, author)),
      chapter: random.pick(['', 'one', undefined]),
      page_no: random.pick([0, 7, undefined]),
      privacy: isPrivate ? 0 : 2,
      abstract: text.slice(0, 14),
      summary: text.slice(0, 14),
      content: random.chance(0.8) ? `${text}\n<图片1> <图片2>` : text,
      abstract_photo: random.pick(['', 'https://img1.example/a.jpg', undefined]),
      photos: random.pick([{}, { '1': 'https://img1.example/1.jpg', '2': 'not an address' }, undefined]),
      last_photo: random.pick([0, 2, undefined]),
      comments_count: random.int(0, 5),
      hasmath: random.chance(0.2),
      time: stamp(random),
      isPrivate,
    } as unknown as Annotation_);
  });
}
export const annotationsWith = (world: World, holds: (each: Annotation_) => boolean): Annotation_[] =>
  [...new Set([...ids.annotation, ...world.annotations.keys()])].flatMap((id) => {
    const found = annotation(world, id);
    return found && holds(found) ? [found] : [];
  });

export function review(id: number, bookId: string, world: World, author: string, draft: object): ReviewRecord {
  return plain({
    id,
    ...draft,
    alt: `https://book.example/review/${id}`,
    author: user(world, author),
    book: book(world, bookId) ?? undefined,
    votes: 0,
    useless: 0,
    comments: 0,
    published: '2020-01-02 03:04:05',
    updated: '2020-01-02 03:04:05',
  } as unknown as ReviewRecord);
}

// People

export const user = (world: World, id: string): UserRecord =>
  once(world, `User ${id}`, (random) =>
    consistent({
      id,
      uid: random.pick([id, '', `uid-${id}`]),
      name: random.weighted([
        [5, `Name ${id}`],
        [1, '[已注销]'],
      ]),
      alt: url(random, `people/${id}`),
      avatar: url(random, `u${id}`),
      large_avatar: maybe(random, 0.7, url(random, `large${id}`)),
      signature: random.pick(['', 'hello', undefined]),
      desc: random.pick(['', 'about me', undefined]),
      type: id.startsWith('site') ? 'site' : random.pick(['user', undefined]),
      is_banned: random.chance(0.1),
      is_suicide: false,
      ...random.pick([
        { loc_id: 'beijing', loc_name: '北京' },
        { loc_id: '108288', loc_name: '上海' },
        { loc_id: 'beijing' },
        { loc_id: '', loc_name: '' },
        {},
      ]),
    }),
  );

/** Responses with a person have one picture or another, and never another picture. */
const consistent = (record: UserRecord): UserRecord => {
  const { avatar, large_avatar, ...rest } = plain(record);
  return { ...rest, avatar: avatar!, ...(avatar && large_avatar ? { large_avatar } : {}) };
};

// Films

const filmUser = (world: World, id: string) => {
  const { uid, name, alt, avatar, signature } = user(world, id);
  return plain({ id, uid, name, alt, avatar, signature });
};

export function subject(world: World, id: string): SubjectRecord | null {
  if (world.isAbsent(id) || !(ids.subject as readonly string[]).includes(id)) return null;
  return once(world, `Subject ${id}`, (random) => {
    const isSeries = random.chance(0.3);
    const number = (low: number) => random.pick<unknown>([low, low + 5, 0, null]);
    return plain({
      id,
      title: random.chance(0.9) ? `Film ${id}` : '',
      original_title: random.pick(['Original', '']),
      aka: random.pick([['', 'Other'], [], ['One', 'Two']]),
      alt: url(random, `subject/${id}`),
      mobile_url: url(random, `m/${id}`),
      rating: random.weighted<unknown>([
        [4, { max: 10, min: 0, average: 8.7, stars: '45', details: { 5: 259.0, 1: 0 } }],
        [2, { max: 10, min: 0, average: 0, stars: '00' }],
        [1, { max: 10, min: 0, average: 7, stars: '35' }],
        [1, { max: 10, min: 0, value: 8 }],
      ]),
      ratings_count: random.int(0, 999),
      wish_count: number(3),
      collect_count: random.int(0, 99),
      do_count: isSeries ? random.int(0, 9) : random.pick([null, 0]),
      images: images(random, `s${id}`),
      subtype: isSeries ? 'tv' : random.pick(['movie', 'movie', '', 'odd']),
      directors: credits(world, random, 2),
      casts: credits(world, random, 4),
      writers: credits(world, random, 2),
      website: random.pick(['', 'https://film.example']),
      service_site: random.pick(['', 'https://site.example/a']),
      douban_site: random.pick(['', 'https://site.example/b']),
      pubdates: random.pick([['2018-04-22(中国大陆)', '2016-08'], []]),
      mainland_pubdate: random.pick(['2018-04-22', '']),
      pubdate: random.pick(['2018-04-22', '']),
      year: random.pick(['2018', '']),
      languages: random.pick([['汉语'], []]),
      durations: random.pick([['110分钟(剧场版)', '79 分钟'], []]),
      genres: random.pick([['剧情', '喜剧', '动作'], []]),
      countries: random.pick([['中国'], ['', '美国']]),
      summary: words(random),
      comments_count: random.int(0, 99),
      reviews_count: random.int(0, 99),
      seasons_count: isSeries ? 3 : null,
      current_season: isSeries ? 2 : null,
      episodes_count: isSeries ? 12 : null,
      schedule_url: random.pick(['', 'https://film.example/when']),
      trailer_urls: random.pick([['https://film.example/t1'], []]),
      clip_urls: [],
      blooper_urls: random.pick([['https://film.example/b1', ''], []]),
      photos: photosOf(world, 'subject', id).slice(0, 10).map(simplePhotoOf),
      popular_reviews: reviewsOf(world, id).slice(0, 10).map(simpleReviewOf),
      has_video: true,
    } as unknown as SubjectRecord);
  });
}

function credits(world: World, random: Random, most: number): PersonCredit[] {
  return Array.from({ length: random.int(0, most) }, () => {
    if (random.chance(0.1)) return { id: null, name: '没有主页', alt: null, avatars: null };
    return creditOf(world, random.pick(ids.celebrity));
  });
}

/** A person as embedded in a film; present even if the record of the person is absent. */
export function creditOf(world: World, id: string): PersonCredit {
  const known = celebrity(world, id);
  if (!known)
    return {
      id,
      name: `Gone ${id}`,
      alt: 'https://movie.example/gone',
      avatars: { small: 'https://img1.example/gone' },
    };
  const { name, alt, avatars } = known;
  return plain({ id, name, alt, avatars });
}

/** Works are added by the caller, because works embed films and films embed people. */
export function celebrity(world: World, id: string): CelebrityRecord | null {
  if (world.isAbsent(id) || !(ids.celebrity as readonly string[]).includes(id)) return null;
  return once(world, `Celebrity ${id}`, (random) =>
    plain({
      id,
      name: `Person ${id}`,
      name_en: random.pick(['Person', '']),
      alt: url(random, `celebrity/${id}`),
      mobile_url: url(random, `mc/${id}`),
      avatars: images(random, `c${id}`) ?? {},
      summary: words(random),
      aka: random.pick([[''], ['Another'], []]),
      aka_en: random.pick([[], ['En']]),
      website: random.pick(['', 'https://person.example']),
      gender: random.pick(['男', '女', '']),
      birthday: random.pick(['1970-01-01', '']),
      born_place: random.pick(['中国', '']),
      professions: random.pick([['', '', '导演'], ['演员']]),
      constellation: random.pick(['狮子座', '']),
    }),
  );
}
export const wholeCelebrity = (world: World, id: string): CelebrityRecord | null => {
  const person = celebrity(world, id);
  if (!person) return null;
  return {
    ...person,
    photos: photosOf(world, 'celebrity', id).slice(0, 10).map(simplePhotoOf),
    works: worksOf(world, id).slice(0, 5),
  };
};

export const worksOf = (world: World, id: string): WorkRecord[] =>
  once(world, `works ${id}`, (random) =>
    idsIn(random, ids.subject, 8).map((each) => ({
      roles: random.pick([['演员'], ['导演', ''], []]),
      subject: simpleSubjectOf(world, each),
    })),
  );

/** A film as embedded in lists; present even if the record is absent. */
export function simpleSubjectOf(world: World, id: string): SubjectRecord {
  const whole = subject(world, id);
  if (!whole) return { id, title: `Gone film ${id}`, year: '1999' };
  return once(world, `simple ${id}`, (random) => {
    const { title, original_title, alt, images, rating, year, subtype, genres, collect_count } = whole;
    const extra = random.chance(0.5) ? { genres, collect_count } : {};
    return plain({ id, title, original_title, alt, images, rating, year, subtype, ...extra });
  });
}

/** Most often a few, sometimes more than the 10 that a film embeds, sometimes exactly 10. */
const opinionCount = (random: Random): number =>
  random.weighted([
    [3, random.int(0, 4)],
    [2, random.int(8, 13)],
    [1, 10],
  ]);

export const photosOf = (world: World, of: 'subject' | 'celebrity', id: string): PhotoRecord[] =>
  once(world, `photos ${of} ${id}`, (random) =>
    Array.from({ length: opinionCount(random) }, (_, index) =>
      plain({
        id: `${id}9${index}`,
        subject_id: of === 'subject' ? id : random.pick([...ids.subject, '']),
        alt: url(random, `photo/${index}`),
        icon: url(random, `i${index}`),
        image: url(random, `p${index}`),
        thumb: url(random, `t${index}`),
        cover: url(random, `c${index}`),
        created_at: stamp(random),
        desc: random.pick(['', 'a photo']),
        author: maybe(random, 0.8, filmUser(world, random.pick(ids.user))),
        album_id: random.pick(['', '77']),
        album_title: 'Album',
        album_url: 'https://movie.example/album/77',
        next_photo: random.pick(['', `${id}91`]),
        prev_photo: random.pick(['', undefined]),
        position: index,
        comments_count: random.pick([0, 3, undefined]),
        photos_count: 12,
      }),
    ),
  );
function simplePhotoOf({ id, alt, icon, image, thumb, cover }: PhotoRecord): PhotoRecord {
  return plain({ id, alt, icon, image, thumb, cover });
}

export const reviewsOf = (world: World, id: string): FilmReviewRecord[] =>
  once(world, `reviews ${id}`, (random) =>
    Array.from({ length: opinionCount(random) }, (_, index) =>
      plain({
        id: `${id}8${index}`,
        title: random.pick(['A review', '']),
        alt: url(random, `review/${index}`),
        created_at: stamp(random),
        updated_at: stamp(random),
        subject_id: id,
        author: maybe(random, 0.8, filmUser(world, random.pick(ids.user))),
        summary: words(random),
        rating: random.pick([{ max: 5, min: 0, value: 4.0 }, { max: 5, min: 0, value: 0 }, undefined]),
        useful_count: index,
        useless_count: random.pick([0, 2, undefined]),
        comments_count: random.pick([0, 3]),
      }),
    ),
  );
function simpleReviewOf({ id, title, alt, subject_id, author, rating, summary }: FilmReviewRecord): FilmReviewRecord {
  return plain({ id, title, alt, subject_id, author, rating, summary });
}

export const commentsOf = (world: World, id: string): FilmCommentRecord[] =>
  once(world, `comments ${id}`, (random) =>
    Array.from({ length: random.int(0, 7) }, (_, index) =>
      plain({
        id: `${id}7${index}`,
        created_at: stamp(random),
        subject_id: id,
        author: filmUser(world, random.pick(ids.user)),
        content: `${words(random)} ${'长'.repeat(random.pick([1, 352]))}`,
        rating: random.pick([{ max: 5, min: 0, value: 3.0 }, { max: 5, min: 0, value: 0 }, undefined]),
        useful_count: index,
      }),
    ),
  );

/** Keeps only the members that the tier gets. */
export function forTier<T extends object>(
  record: T,
  members: Readonly<Record<string, readonly Tier[]>>,
  tier: Tier,
): Partial<T> {
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => members[name]?.includes(tier) ?? true),
  ) as Partial<T>;
}
export const tierMembers = { subject: subjectMembers, celebrity: celebrityMembers };

export const chartOf = (world: World, chart: string, most: number): string[] =>
  once(world, `chart ${chart}`, (random) => idsIn(random, ids.subject, most));

// Notes

export function note(world: World, id: string): (NoteRecord & { author: string }) | null {
  if (world.isAbsent(id) || !(ids.note as readonly string[]).includes(id)) return null;
  const made = once(world, `Note ${id}`, (random) => {
    const author = random.pick(['alice', 'bob', 'carol', 'u1']);
    const privacy = author === 'u1' ? 'public' : random.pick(['public', 'private', 'public']);
    const mark = privacy === 'private' ? secretOf(author) : 'Note';
    return plain({
      id,
      author,
      alt: url(random, `note/${id}`),
      title: `${mark} ${id}`,
      summary: random.pick([`${mark} summary`, '']),
      content: `${mark} [img=1:C]caption[/img]\n[url="https://a.example"]link[/url] ${words(random)}`,
      privacy,
      can_reply: random.pick([true, false]),
      publish_time: stamp(random),
      update_time: stamp(random),
      photos: random.pick([{}, { '1': 'https://img1.example/n1.jpg' }, undefined]),
      ...(random.chance(0.5) ? { comments_count: 3 } : { comment_count: 3 }),
      liked_count: random.int(0, 9),
      recs_count: random.pick([0, 2]),
    } as unknown as NoteRecord & { author: string });
  });
  return { ...made, liked_count: (made.liked_count ?? 0) + (world.likes.get(id) ?? 0) };
}

export const noteComments = (world: World, id: string): NoteCommentRecord[] => {
  const initial = once(world, `note comments ${id}`, (random) =>
    Array.from({ length: random.int(0, 3) }, (_, index) =>
      plain({
        id: String(index + 1),
        content: words(random),
        created: stamp(random),
        author: maybe(random, 0.8, user(world, random.pick(ids.user))),
      }),
    ),
  );
  const changed = [...world.comments].filter(([key]) => key.startsWith(`${id}:`));
  const gone = new Set(changed.flatMap(([key, value]) => (value === null ? [key.slice(id.length + 1)] : [])));
  return [...initial, ...changed.flatMap(([, value]) => value ?? [])].filter((each) => !gone.has(each.id));
};

// Events

const cityNames: Readonly<Record<string, string>> = { beijing: '北京', '108288': '上海' };
const cityNamedBy: Readonly<Record<string, string>> = { '601': 'beijing', '602': '108288' };

export interface Event_ extends EventRecord {
  city: string;
  owner: string;
}
export function event(world: World, id: string): Event_ | null {
  if (world.isAbsent(id) || !(ids.event as readonly string[]).includes(id)) return null;
  return once(world, `Event ${id}`, (random) => {
    const city = random.pick(['beijing', '108288']);
    // Each city has an event that names it: nothing else tells the name of a city.
    const namesCity = cityNamedBy[id];
    const owner = random.pick(['alice', 'bob', 'u1', 'site1']);
    const location = random.weighted<object | undefined>([
      [6, { id: city, name: cityNames[city] }],
      [1, undefined],
    ]);
    return plain({
      id,
      city,
      owner,
      title: random.chance(0.9) ? `Event ${id}` : '',
      term: random.pick([termOf(random.pick(eventTypes)), 'http://www.douban.com/2007#event.exhibit', 'odd']),
      author: random.weighted<AtomPerson | undefined>([
        [6, atomPerson(world, owner)],
        [1, undefined],
      ]),
      links: {
        self: `http://api.example/event/${id}`,
        ...(random.chance(0.8) ? { alternate: `https://www.example/event/${id}/` } : {}),
        ...(random.chance(0.6) ? { image: `https://img1.example/e${id}.jpg` } : {}),
      },
      summary: random.pick(['The beginning', undefined]),
      content: random.pick(['The beginning & <all> of it', 'two\nlines', undefined]),
      invite_only: random.pick(['yes', 'no', undefined]),
      can_invite: random.pick(['yes', 'no']),
      participants: String(random.int(1, 50)),
      wishers: String(random.int(1, 50)),
      location: namesCity ? { id: namesCity, name: cityNames[namesCity] } : location,
      startTime: random.pick(['2011-12-18T19:30:00+08:00', '2111-12-18T19:30:00+08:00']),
      endTime: random.pick(['2011-12-18T21:30:00+08:00', '2111-12-18T21:30:00+08:00', undefined]),
      where: random.pick(['北京 somewhere', undefined]),
      point: random.pick(['39.9 116.4', undefined]),
    });
  });
}

/** A person as the author of an event, or of the feed of their events. */
export function atomPerson(world: World, id: string): AtomPerson {
  const { name, alt, avatar } = user(world, id);
  const isSite = id.startsWith('site');
  return {
    id,
    name: name ?? '',
    type: isSite ? 'site' : 'user',
    links: {
      self: `http://api.example/${isSite ? 'site' : 'people'}/${id}`,
      ...(alt ? { alternate: alt } : {}),
      ...(avatar ? { icon: avatar } : {}),
    },
  };
}

/** A person as an entry of a feed. */
export function personEntry(world: World, id: string): AtomPerson {
  const { desc, loc_id, loc_name } = user(world, id);
  const base = atomPerson(world, id);
  return {
    ...base,
    uid: `uid-${id}`,
    ...(desc ? { content: desc } : {}),
    ...(loc_id && loc_name ? { location: { id: loc_id, name: loc_name } } : {}),
  };
}

export const relationOf = (world: World, person: string, id: string): 'participate' | 'wish' | 'initiate' | null => {
  const key = `${person}:${id}`;
  if (world.relations.has(key)) return world.relations.get(key)!;
  return world.random(`relation ${key}`).weighted<'participate' | 'wish' | 'initiate' | null>([
    [3, null],
    [1, 'participate'],
    [1, 'wish'],
  ]);
};
export const guestsOf = (world: World, id: string, as: 'participate' | 'wish'): string[] =>
  ids.user.filter((person) => relationOf(world, person, id) === as);
export const eventsOf = (world: World): Event_[] =>
  ids.event.flatMap((id) => {
    const found = event(world, id);
    return found ? [found] : [];
  });
