/**
 * The members that each field reads and the value it returns, written from the documentation of the interface and independent
 * of the declarations of the graph, so that the replay compares the two.
 */
export type Wire = Readonly<Record<string, unknown>>;

export interface ExpectedField {
  /** Members that the field reads; any one of alternative names. */
  wire: readonly string[];
  /** The expected value for a record. */
  value?: (record: Wire) => unknown;
  /** The nested objects, and the table with their fields. */
  nested?: { table: string; list: boolean; of: (record: Wire) => unknown };
  /** Arguments that limit the field to what the record embeds. */
  args?: string;
}

const blank = (value: unknown): boolean => typeof value !== 'string' || value.trim() === '';
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const numberOf = (value: unknown): number | null =>
  value === null || value === undefined || value === '' ? null : Math.trunc(Number(value));

/** A text, '' if it is absent. */
const text = (name: string): ExpectedField => ({ wire: [name], value: (record) => textOf(record[name]) });
/** A text, null if it is absent or blank. */
const line = (...wire: string[]): ExpectedField => ({
  wire,
  value: (record) => wire.map((name) => record[name]).find((value) => !blank(value)) ?? null,
});
const texts = (name: string): ExpectedField => ({
  wire: [name],
  value: (record) => asList(record[name]).filter((item) => !blank(item)),
});
const int = (name: string): ExpectedField => ({ wire: [name], value: (record) => numberOf(record[name]) });
const count = (...wire: string[]): ExpectedField => ({
  wire,
  value: (record) => numberOf(wire.map((name) => record[name]).find((value) => value !== undefined)) ?? 0,
});
const positive = (name: string): ExpectedField => ({ wire: [name], value: (record) => numberOf(record[name]) || null });
const flag = (name: string): ExpectedField => ({ wire: [name], value: (record) => record[name] === true });
const url = (...wire: string[]): ExpectedField => ({
  wire,
  value: (record) =>
    wire.map((name) => textOf(record[name]).trim()).find((value) => /^https?:\/\/[^/]/.test(value)) ?? null,
});
const time = (name: string): ExpectedField => ({
  wire: [name],
  value: (record) => (blank(record[name]) ? null : textOf(record[name]).replace(' ', 'T')),
});
const id = (type: string, name = 'id'): ExpectedField => ({
  wire: [name],
  value: (record) => (textOf(record[name]) ? `${type}:${textOf(record[name])}` : null),
});
const one = (wire: string | readonly string[], table: string, of?: (record: Wire) => unknown): ExpectedField => {
  const names = typeof wire === 'string' ? [wire] : wire;
  return { wire: names, nested: { table, list: false, of: of ?? ((record) => record[names[0]!]) } };
};
/** A picture in three sizes, if there is one. */
const picture = (name: string): ExpectedField =>
  one(name, 'Image', (record) =>
    Object.values((record[name] as Wire | null | undefined) ?? {}).some(Boolean) ? record[name] : null,
  );
const many = (name: string, table: string): ExpectedField => ({
  wire: [name],
  nested: { table, list: true, of: (record) => asList(record[name]) },
});
const page = (name: string, table: string, args: string): ExpectedField => ({
  wire: [name],
  args,
  nested: { table: 'Connection', list: false, of: (record) => ({ table, nodes: asList(record[name]) }) },
});
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const identity = (type: string) => ({ id: id(type), sourceId: text('id') });
const given = one('rating', 'UserRating', ({ rating }) =>
  Number((rating as Wire | undefined)?.value ?? 0) > 0 ? rating : null,
);
const capitals = (name: string, words: Readonly<Record<string, string>> = {}): ExpectedField => ({
  wire: [name],
  value: (record) => words[textOf(record[name])] ?? (textOf(record[name]).toUpperCase() || null),
});
/** A line of the record in a member. */
const lineOf = (member: string, name: string): ExpectedField => ({
  wire: [member],
  value: (record) => {
    const value = (record[member] as Wire | null | undefined)?.[name];
    return blank(value) ? null : value;
  },
});
const authorUid = lineOf('author', 'uid');
const authorSignature = lineOf('author', 'signature');
const isTv = ({ subtype }: Wire): boolean => subtype === 'tv';

export const expectedFields: Readonly<Record<string, Readonly<Record<string, ExpectedField>>>> = {
  Image: { small: url('small'), medium: url('medium'), large: url('large') },
  FilmTag: { name: line('name') },
  BookTag: { name: line('name', 'title'), count: count('count') },
  UserRating: { value: int('value'), max: int('max'), min: int('min') },
  BookRating: {
    average: { wire: ['average'], value: ({ average }) => Number(average ?? 0) || null },
    max: { wire: ['max'], value: ({ max = 10 }) => max },
    min: { wire: ['min'], value: ({ min = 0 }) => min },
    ratersCount: { wire: ['numRaters'], value: ({ numRaters }) => numberOf(numRaters) },
  },
  FilmRating: {
    average: { wire: ['average', 'value'], value: ({ average, value }) => Number(average ?? value ?? 0) || null },
    max: { wire: ['max'], value: ({ max = 10 }) => max },
    min: { wire: ['min'], value: ({ min = 0 }) => min },
    stars: { wire: ['stars'], value: ({ stars }) => (numberOf(stars) ?? 0) / 10 || null },
    ratersCount: count('ratings_count'),
  },
  City: { id: id('City'), sourceId: text('id'), name: line('name') },
  User: {
    ...identity('User'),
    name: line('name'),
    avatarUrl: url('avatar', 'large_avatar'),
    webUrl: url('alt'),
    isSite: { wire: ['type'], value: ({ type }) => type === 'site' },
  },

  Book: {
    ...identity('Book'),
    isbn10: line('isbn10'),
    isbn13: line('isbn13'),
    title: text('title'),
    subtitle: line('subtitle'),
    originalTitle: line('origin_title'),
    alternativeTitle: line('alt_title'),
    authors: texts('author'),
    translators: texts('translator'),
    publisher: line('publisher'),
    publishedOn: line('pubdate'),
    binding: line('binding'),
    price: line('price'),
    pages: line('pages'),
    cover: one(['images', 'image'], 'Image', ({ images, image }) => ({
      medium: image,
      ...(images as Wire | undefined),
    })),
    webUrl: url('alt'),
    rating: one('rating', 'BookRating', ({ rating }) => rating ?? {}),
    tags: many('tags', 'BookTag'),
    summary: line('summary'),
    authorIntro: line('author_intro'),
    tableOfContents: {
      wire: ['catalog'],
      value: ({ catalog }) =>
        textOf(catalog)
          .split(/\r?\n|\r/)
          .map((item) => item.trim())
          .filter((item) => item !== ''),
    },
    ebook: one(['ebook_url', 'ebook_price'], 'Ebook', ({ ebook_url, ebook_price }) =>
      blank(ebook_url) && blank(ebook_price) ? null : { ebook_url, ebook_price },
    ),
    series: one('series', 'Series'),
  },
  Ebook: { url: url('ebook_url'), price: line('ebook_price') },
  Series: { ...identity('Series'), title: text('title') },
  Collection: {
    id: {
      wire: ['user_id', 'book_id', 'id'],
      value: ({ user_id, book_id }) => `Collection:${textOf(user_id)}:${textOf(book_id)}`,
    },
    sourceId: {
      wire: ['user_id', 'book_id'],
      value: ({ user_id, book_id }) => `${textOf(user_id)}:${textOf(book_id)}`,
    },
    status: capitals('status'),
    rating: given,
    comment: line('comment'),
    tagNames: texts('tags'),
    updatedAt: time('updated'),
    book: one(['book', 'book_id'], 'Book', ({ book, book_id }) => book ?? { id: book_id }),
    user: one('user_id', 'Handle', ({ user_id }) => ({ id: user_id })),
  },
  /** A user known by id only. */
  Handle: { id: id('User'), sourceId: text('id'), name: line('name') },
  Annotation: {
    ...identity('Annotation'),
    chapter: line('chapter'),
    page: positive('page_no'),
    abstract: line('abstract', 'summary'),
    content: text('content'),
    pictures: one('photos', 'Pictures'),
    abstractPhotoUrl: url('abstract_photo'),
    hasMath: flag('hasmath'),
    commentsCount: count('comments_count'),
    lastPhotoNumber: positive('last_photo'),
    time: time('time'),
    isPrivate: { wire: ['privacy'], value: ({ privacy }) => [true, null, false][Number(privacy)] ?? null },
    privacyLevel: int('privacy'),
    book: one(['book', 'book_id'], 'Book', ({ book, book_id }) => book ?? { id: book_id }),
    author: one(['author_user', 'author_id'], 'User', ({ author_user, author_id }) => author_user ?? { id: author_id }),
    authorUid: lineOf('author_user', 'uid'),
  },

  Note: {
    ...identity('Note'),
    title: text('title'),
    summary: line('summary'),
    webUrl: url('alt'),
    content: text('content'),
    pictures: one('photos', 'Pictures'),
    privacy: capitals('privacy'),
    canReply: flag('can_reply'),
    createdAt: time('publish_time'),
    updatedAt: time('update_time'),
    commentsCount: count('comments_count', 'comment_count'),
    likesCount: count('liked_count'),
    recommendationsCount: count('recs_count'),
  },
  NoteComment: {
    sourceId: text('id'),
    content: text('content'),
    createdAt: time('created'),
    author: one('author', 'User'),
    authorUid,
  },

  Subject: {
    ...identity('Subject'),
    title: text('title'),
    originalTitle: line('original_title'),
    alternativeTitles: texts('aka'),
    year: line('year'),
    subjectType: capitals('subtype'),
    poster: picture('images'),
    webUrl: url('alt'),
    mobileUrl: url('mobile_url'),
    websiteUrl: url('website'),
    miniSiteUrl: url('service_site', 'douban_site'),
    scheduleUrl: url('schedule_url'),
    rating: one(['rating', 'ratings_count'], 'FilmRating', ({ rating, ratings_count }) => ({
      ...(rating as Wire | undefined),
      ...(ratings_count === undefined ? {} : { ratings_count }),
    })),
    wishCount: count('wish_count'),
    collectCount: count('collect_count'),
    doingCount: { wire: ['do_count'], value: (film) => numberOf(film.do_count) ?? (isTv(film) ? 0 : null) },
    commentsCount: count('comments_count'),
    reviewsCount: count('reviews_count'),
    genres: texts('genres'),
    genreTags: {
      wire: ['genres'],
      nested: {
        table: 'FilmTag',
        list: true,
        of: (record) => asList(record.genres).flatMap((name) => (blank(name) ? [] : [{ name }])),
      },
    },
    countries: texts('countries'),
    languages: texts('languages'),
    durations: texts('durations'),
    releaseDates: texts('pubdates'),
    mainlandReleaseDate: line('mainland_pubdate'),
    pubdate: line('pubdate'),
    seasonsCount: int('seasons_count'),
    currentSeason: int('current_season'),
    episodesCount: int('episodes_count'),
    summary: line('summary'),
    trailerUrls: texts('trailer_urls'),
    clipUrls: texts('clip_urls'),
    blooperUrls: texts('blooper_urls'),
    directors: many('directors', 'Celebrity'),
    casts: many('casts', 'Celebrity'),
    writers: many('writers', 'Celebrity'),
    photos: page('photos', 'Photo', '(first: 10)'),
    reviews: page('popular_reviews', 'FilmReview', '(first: 10)'),
  },
  Celebrity: {
    id: {
      wire: ['id', 'name'],
      value: (person) => `Celebrity:${textOf(person.id) || `~${encodeURIComponent(textOf(person.name))}`}`,
    },
    sourceId: line('id'),
    name: line('name'),
    nameEn: line('name_en'),
    alternativeNames: texts('aka'),
    alternativeNamesEn: texts('aka_en'),
    portrait: picture('avatars'),
    webUrl: url('alt'),
    mobileUrl: url('mobile_url'),
    websiteUrl: url('website'),
    gender: line('gender'),
    birthday: line('birthday'),
    bornPlace: line('born_place'),
    constellation: line('constellation'),
    professions: texts('professions'),
    summary: line('summary'),
    photos: page('photos', 'Photo', '(first: 10)'),
    works: page('works', 'CelebrityWork', '(first: 5)'),
  },
  CelebrityWork: { roles: texts('roles'), subject: one('subject', 'Subject') },
  Photo: {
    ...identity('Photo'),
    webUrl: url('alt'),
    iconUrl: url('icon'),
    imageUrl: url('image'),
    thumbUrl: url('thumb'),
    coverUrl: url('cover'),
    createdAt: time('created_at'),
    description: line('desc'),
    author: one('author', 'User'),
    authorUid,
    authorSignature,
    album: one(['album_id', 'album_title', 'album_url'], 'PhotoAlbum', ({ album_id, album_title, album_url }) => ({
      album_id,
      album_title,
      album_url,
    })),
    position: count('position'),
    commentsCount: count('comments_count'),
    photosCount: count('photos_count'),
    subject: one('subject_id', 'SubjectHandle', ({ subject_id }) => ({ id: subject_id })),
  },
  SubjectHandle: identity('Subject'),
  PhotoAlbum: { title: line('album_title'), webUrl: url('album_url') },
  FilmReview: {
    ...identity('FilmReview'),
    title: text('title'),
    summary: line('summary'),
    rating: given,
    usefulCount: count('useful_count'),
    uselessCount: count('useless_count'),
    commentsCount: count('comments_count'),
    createdAt: time('created_at'),
    updatedAt: time('updated_at'),
    webUrl: url('alt'),
    author: one('author', 'User'),
    authorUid,
    authorSignature,
    subject: one('subject_id', 'SubjectHandle', ({ subject_id }) => ({ id: subject_id })),
  },
  FilmComment: {
    ...identity('FilmComment'),
    content: text('content'),
    rating: given,
    usefulCount: count('useful_count'),
    createdAt: time('created_at'),
    author: one('author', 'User'),
    authorUid,
    authorSignature,
    subject: one('subject_id', 'SubjectHandle', ({ subject_id }) => ({ id: subject_id })),
  },
  BoxOfficeEntry: { rank: int('rank'), grossUsd: int('box'), isNew: flag('new'), subject: one('subject', 'Subject') },
  WeeklyEntry: { rank: int('rank'), delta: int('delta'), subject: one('subject', 'Subject') },
};

/** Tables that are not named after their type. */
export const graphType: Readonly<Record<string, string>> = {
  Handle: 'User',
  SubjectHandle: 'Subject',
};

/** Fields that read no member of a record and have no call of their own; they are tested elsewhere. */
export const testedElsewhere: Readonly<Record<string, readonly string[]>> = {
  Collection: ['isPrivate', 'revision', 'viewerCanDelete', 'viewerCanUpdate', 'viewerDidAuthor'],
  Annotation: ['blocks', 'revision', 'viewerCanDelete', 'viewerCanUpdate', 'viewerDidAuthor'],
  Note: ['blocks', 'author', 'revision', 'viewerCanDelete', 'viewerCanUpdate', 'viewerDidAuthor'],
  NoteComment: ['id', 'note', 'viewerCanDelete', 'viewerCanUpdate', 'viewerDidAuthor'],
  Photo: ['next', 'previous', 'celebrity'],
  Subject: ['attribution'],
  FilmReview: ['attribution'],
  FilmRating: ['attribution'],
};

/** Members of the recorded responses that are undocumented or have no field. */
export const extras: readonly string[] = [
  'User.is_banned',
  'User.is_suicide',
  'User.url',
  'Book.url',
  // Fields of what the person wrote.
  'User.uid',
  'User.signature',
  'Photo.recs_count',
  // An id that nothing accepts.
  'PhotoAlbum.album_id',
  'FilmReview.share_url',
  'FilmReview.content',
  'FilmRating.details',
  ...[
    'videos',
    'popular_comments',
    'photos_count',
    'has_video',
    'share_url',
    'tags',
    'has_schedule',
    'collection',
    'trailers',
    'has_ticket',
    'bloopers',
    'clips',
  ].map((name) => `Subject.${name}`),
];
