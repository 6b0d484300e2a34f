import { type Fields, type ListPage, type Representation, type Window, membersOf } from './endpoint.ts';
import {
  byAuthor,
  byOwnId,
  endpoint,
  endpointTable,
  gives,
  givesRecord,
  givesThatRecord,
  repeats,
  repeatsPerson,
  takes,
  v2,
} from './endpoint-table.ts';
import type { UserRecord } from './user.ts';

/** Longest comment a collection may carry, in characters. */
export const COMMENT_MAX = 350;
/** A review's content has more characters than this. */
export const REVIEW_MORE_THAN = 150;
/** An annotation's content has more characters than this. */
export const ANNOTATION_MORE_THAN = 15;
/** Longest chapter name of an annotation, in characters. */
export const CHAPTER_MAX = 100;
/** A page number is below this: a positive integer of at most six digits. */
export const PAGE_BELOW = 1_000_000;
/** The `privacy` of a public annotation, as the real service writes it. */
export const PRIVACY_PUBLIC = 2;
/** The `privacy` of an annotation that only its author may see. Not specified: the number. */
export const PRIVACY_PRIVATE = 0;
/** Largest page of a list of books, collections or annotations; a larger `count` is reduced to it. */
export const COUNT_MAX = 100;
export const COUNT_DEFAULT = 20;
/** The first item of a search, if a request names none. */
export const START_DEFAULT = 0;
/** Most tags in a book's tag list; the record itself contains the first {@link RECORD_TAGS}. */
export const TAGS_MAX = 50;
export const RECORD_TAGS = 8;
/** A picture has fewer bytes than this. */
export const PICTURE_BELOW = 3_000_000;
export const RATING_MIN = 1;
export const RATING_MAX = 5;

export const collectionStatuses = ['wish', 'reading', 'read'] as const;
export type CollectionStatus = (typeof collectionStatuses)[number];
/** On write, these mean `reading` and `read`. */
export const statusAliases: Readonly<Record<string, CollectionStatus>> = { doing: 'reading', done: 'read' };

export const annotationOrders = ['collect', 'rank', 'page'] as const;
export type AnnotationOrder = (typeof annotationOrders)[number];
export const annotationFormats = ['text', 'html'] as const;
export type AnnotationFormat = (typeof annotationFormats)[number];

export interface BookRating {
  max: number;
  min: number;
  numRaters: number;
  /** One decimal; `0.0` without ratings. */
  average: string;
}
/** `value` is a string: '4'. */
export interface GivenRating {
  max: number;
  min: number;
  value: string;
}
export interface ImageSet {
  small?: string;
  medium?: string;
  large?: string;
}
export interface BookTag {
  count: number;
  name: string;
  /** The real service writes the name twice. */
  title?: string;
}
export interface BookRecord {
  id: string;
  isbn10?: string;
  isbn13?: string;
  title: string;
  origin_title?: string;
  alt_title?: string;
  subtitle?: string;
  url?: string;
  alt?: string;
  image?: string;
  images?: ImageSet;
  author?: string[];
  translator?: string[];
  publisher?: string;
  pubdate?: string;
  rating?: BookRating;
  tags?: BookTag[];
  binding?: string;
  price?: string;
  series?: { id: string; title: string };
  pages?: string;
  author_intro?: string;
  summary?: string;
  catalog?: string;
  ebook_url?: string;
  ebook_price?: string;
  /** Only for an authorized user who has collected the book; without tags, comment and book. */
  current_user_collection?: CollectionRecord;
}
/** The members that are requested of a book: one that is missing here is never requested. */
// prettier-ignore
export const bookMembers = membersOf<BookRecord>()([
  'id', 'isbn10', 'isbn13', 'title', 'origin_title', 'alt_title', 'subtitle', 'url', 'alt', 'image', 'images', 'author', 'translator',
  'publisher', 'pubdate', 'rating', 'tags', 'binding', 'price', 'series', 'pages', 'author_intro', 'summary', 'catalog', 'ebook_url',
  'ebook_price', 'current_user_collection',
]);

export interface CollectionRecord {
  id: number;
  book?: BookRecord;
  book_id: string;
  comment?: string;
  rating?: GivenRating;
  status: string;
  tags?: string[];
  updated: string;
  user_id: string;
}
/** Every member that a collection record may have. */
// prettier-ignore
export const collectionMembers = membersOf<CollectionRecord>()([
  'id', 'book', 'book_id', 'comment', 'rating', 'status', 'tags', 'updated', 'user_id',
]);

export interface AnnotationRecord {
  id: string;
  book_id: string;
  book?: BookRecord;
  author_id: string;
  author_user?: UserRecord;
  chapter?: string;
  page_no?: number;
  /** 2 public, 0 private; other values: not specified. */
  privacy?: number;
  abstract?: string;
  /** Has the text of `abstract`, as in the real service. */
  summary?: string;
  content?: string;
  abstract_photo?: string;
  photos?: Record<string, string>;
  last_photo?: number;
  comments_count?: number;
  hasmath?: boolean;
  time?: string;
}
/** Every member that an annotation record may have. */
// prettier-ignore
export const annotationMembers = membersOf<AnnotationRecord>()([
  'id', 'book_id', 'book', 'author_id', 'author_user', 'chapter', 'page_no', 'privacy', 'abstract', 'summary', 'content', 'abstract_photo',
  'photos', 'last_photo', 'comments_count', 'hasmath', 'time',
]);

export interface ReviewRecord {
  id: number;
  title: string;
  alt?: string;
  author?: UserRecord;
  book?: BookRecord;
  rating?: GivenRating;
  votes?: number;
  useless?: number;
  comments?: number;
  summary?: string;
  /** Replaces `summary` in the response to a create or an update. */
  content?: string;
  published?: string;
  updated?: string;
}
export interface TagRecord {
  count: number;
  title: string;
}
export interface SeriesRecord {
  id: string;
  title?: string;
}

export type BookPage = ListPage & { books: BookRecord[] };
export type TagPage = ListPage & { tags: TagRecord[] };
type CollectionPage = ListPage & { collections: CollectionRecord[] };
export type AnnotationPage = ListPage & { annotations: AnnotationRecord[] };

/** A book embedded in a collection, an annotation, a review or a list, as requested without a user token. */
export const bookWithin: Representation = { members: 'all', omits: ['current_user_collection'] };
/** The members of a collection in `current_user_collection`; `GET /v2/book/{id}/collection` returns the others. */
export const viewerCollection: Representation = {
  members: ['id', 'status', 'rating', 'updated', 'user_id', 'book_id'],
};

export interface BookSearch extends Fields, Window {
  q?: string | undefined;
  tag?: string | undefined;
}
export interface CollectionsQuery extends Fields, Window {
  status?: CollectionStatus | undefined;
  tag?: string | undefined;
  /** RFC 3339; filters the time of the last update. */
  from?: string | undefined;
  to?: string | undefined;
  rating?: number | undefined;
}
export interface Whose extends Fields {
  /** Absent: the caller. */
  user_id?: string | undefined;
}
interface AnnotationsQuery extends AnnotationQuery, Window {
  order?: AnnotationOrder | undefined;
  page?: number | undefined;
}
interface AnnotationQuery extends Fields {
  format?: AnnotationFormat | undefined;
}
export interface CollectionDraft {
  status: string;
  /** Separated by spaces. */
  tags?: string | undefined;
  comment?: string | undefined;
  /** `private`: visible to the owner only. Any other value: public. */
  privacy?: string | undefined;
  rating?: number | undefined;
}
/** The name of a picture part is its number, from 1 (`pic1` is accepted too). `<图片n>` in the content shows it. */
export interface AnnotationDraft {
  content: string;
  page?: number | undefined;
  chapter?: string | undefined;
  privacy?: string | undefined;
}
export interface ReviewDraft {
  title: string;
  content: string;
  rating?: number | undefined;
}

const open = { share: 'public' } as const;
const books = { ...open, viewerMember: 'current_user_collection' } as const;
/** Books of a request with the token of a person. */
const withViewer = { ...books, caller: 'current_user_collection' } as const;
const personal = { share: 'anonymous' } as const;
/** A collection is identified by its book; no endpoint takes its own id. */
const onShelf = {
  caller: 'user_id',
  key: ['id', 'book_id'],
  repeats: [repeats('book_id', 'id'), repeatsPerson('user_id')],
} as const;

// Keep the columns aligned.
// prettier-ignore
export const bookEndpoints = endpointTable({ ...v2, group: '/v2/book', share: 'viewer' }, {
  /** The id `search` gives the path of the search, which answers that its parameters are missing: 1002. */
  byId:             endpoint('GET /v2/book/:id',                      'book_basic_r',         takes<Fields>(),             gives<BookRecord>(200),        { ...withViewer, ...byOwnId, absentOn: [1002], freshSeconds: 3600 }),
  byIsbn:           endpoint('GET /v2/book/isbn/:isbn',               'book_basic_r',         takes<Fields>(),             gives<BookRecord>(200),        withViewer),
  search:           endpoint('GET /v2/book/search',                   'book_basic_r',         takes<BookSearch>(),         gives<BookPage>(200),          { ...withViewer, list: 'books' }),
  tags:             endpoint('GET /v2/book/:id/tags',                 'book_basic_r',         takes<Fields & Window>(),    gives<TagPage>(200),           { ...open, list: 'tags' }),
  userTags:         endpoint('GET /v2/book/user/:name/tags',          'book_basic_r',         takes<Fields & Window>(),    gives<TagPage>(200),           { ...personal, list: 'tags' }),
  /** Deprecated: the same as `userTags`. */
  userTagsOld:      endpoint('GET /v2/book/user_tags/:id',            'service_basic_common', takes<Fields & Window>(),    gives<TagPage>(200),           { ...personal, list: 'tags' }),
  collections:      endpoint('GET /v2/book/user/:name/collections',   'book_basic_r',         takes<CollectionsQuery>(),   gives<CollectionPage>(200),    { ...personal, list: 'collections' }),
  collection:       endpoint('GET /v2/book/:id/collection',           'book_basic_r',         takes<Whose>(),              gives<CollectionRecord>(200),  { ...personal, ...onShelf, absentOn: [1001], freshSeconds: 30 }),
  userAnnotations:  endpoint('GET /v2/book/user/:name/annotations',   'book_basic_r',         takes<AnnotationsQuery>(),   gives<AnnotationPage>(200),    { ...personal, list: 'annotations' }),
  annotations:      endpoint('GET /v2/book/:id/annotations',          'book_basic_r',         takes<AnnotationsQuery>(),   gives<AnnotationPage>(200),    { ...books, isWritten: true, list: 'annotations', visibility: { member: 'privacy', everybody: PRIVACY_PUBLIC } }),
  annotation:       endpoint('GET /v2/book/annotation/:id',           'book_basic_r',         takes<AnnotationQuery>(),    gives<AnnotationRecord>(200),  { ...personal, ...byOwnId, absentOn: [1001], freshSeconds: 60 }),
  seriesBooks:      endpoint('GET /v2/book/series/:id/books',         'book_basic_r',         takes<Fields & Window>(),    gives<BookPage>(200),          { ...books, list: 'books' }),

  collect:          endpoint('POST /v2/book/:id/collection',          'book_basic_w',         takes<CollectionDraft>(),    gives<CollectionRecord>(201), { ...onShelf, key: ['id', 'book_id', 'status'] }),
  updateCollection: endpoint('PUT /v2/book/:id/collection',           'book_basic_w',         takes<CollectionDraft>(),    gives<CollectionRecord>(202), { ...onShelf, key: ['id', 'book_id', 'status'] }),
  deleteCollection: endpoint('DELETE /v2/book/:id/collection',        'book_basic_w',         takes(),                     gives(204, 'empty')),
  annotate:         endpoint('POST /v2/book/:id/annotations',         'book_basic_w',         takes<AnnotationDraft>(),    gives<AnnotationRecord>(201), { key: ['id'], repeats: [repeats('book_id', 'id')], caller: 'author_user' }),
  updateAnnotation: endpoint('PUT /v2/book/annotation/:id',           'book_basic_w',         takes<AnnotationDraft>(),    gives<AnnotationRecord>(202), { ...givesThatRecord, caller: 'author_user' }),
  deleteAnnotation: endpoint('DELETE /v2/book/annotation/:id',        'book_basic_w',         takes(),                     gives(204, 'empty')),

  createReview:     endpoint('POST /v2/book/reviews',                 'service_basic_common', takes<ReviewDraft & { book: string }>(), gives<ReviewRecord>(201), { ...givesRecord, ...byAuthor }),
  updateReview:     endpoint('PUT /v2/book/review/:id',               'service_basic_common', takes<ReviewDraft>(),        gives<ReviewRecord>(202), { ...givesThatRecord, ...byAuthor }),
  deleteReview:     endpoint('DELETE /v2/book/review/:id',            'service_basic_common', takes(),                     gives<string>(200)),
});
