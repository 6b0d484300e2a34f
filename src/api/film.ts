import type { BookSearch, ImageSet } from './book.ts';
import {
  type Fields,
  type ListPage,
  type Representation,
  type Tier,
  type Window,
  membersOf,
  tiers,
} from './endpoint.ts';
import { type TableFacts, byOwnId, endpoint, endpointTable, gives, takes, v2 } from './endpoint-table.ts';
import type { UserRecord } from './user.ts';

/** Calls of the film interface that the basic tier may make in a minute. */
export const BASIC_CALLS_A_MINUTE = 40;
/** The basic tier's film search reports at most this total. */
export const BASIC_SEARCH_TOTAL = 20;
/** Most items of each list in a full record. */
export const RECORD_CASTS = 4;
export const RECORD_GENRES = 3;
export const RECORD_URLS = 4;
export const RECORD_PHOTOS = 10;
export const RECORD_REVIEWS = 10;
export const RECORD_WORKS = 5;
export const LIST_COUNT_DEFAULT = 10;
export const FILM_COUNT_DEFAULT = 20;
export const WORKS_COUNT_DEFAULT = 5;
export const REVIEW_SUMMARY_MAX = 100;
/** The tiers with conditions of use, and what they demand of a page. */
export const usageTiers: readonly Tier[] = ['premium'];
export interface UseCondition {
  readonly showWith: readonly ('RATING' | 'LABEL' | 'ENTRY_LINK')[];
  readonly showApartFrom: readonly `OTHER_PROVIDERS_${'DATA' | 'RATINGS' | 'REVIEWS'}`[];
}
export const useConditions = {
  film: { showWith: ['RATING', 'LABEL', 'ENTRY_LINK'], showApartFrom: ['OTHER_PROVIDERS_DATA'] },
  rating: { showWith: ['LABEL'], showApartFrom: ['OTHER_PROVIDERS_RATINGS'] },
  review: { showWith: ['LABEL'], showApartFrom: ['OTHER_PROVIDERS_REVIEWS'] },
} as const satisfies Record<string, UseCondition>;
/** Longest content of a short comment, in characters. */
export const FILM_COMMENT_MAX = 140;

/** Both forms are read. Real service: `average` and `stars`. Specification: these in lists, `value` in full records. */
export interface FilmRating {
  min: number;
  max: number;
  average?: number;
  /** '45' from the real service, a number in the specification. */
  stars?: string | number;
  value?: number;
}
/** The rating by one person: an integer in the specification, a float from the real service. */
interface FilmUserRating {
  min: number;
  max: number;
  value: number;
}
export type FilmUserRecord = Pick<UserRecord, 'id' | 'name' | 'uid' | 'signature' | 'alt' | 'avatar'>;
/** `id`, `alt` and `avatars` are null for people without a page. */
export interface PersonCredit {
  id: string | null;
  name: string;
  name_en?: string;
  alt?: string | null;
  avatars?: ImageSet | null;
}
export interface SubjectRecord {
  id: string;
  title: string;
  original_title?: string;
  aka?: string[];
  alt?: string;
  mobile_url?: string;
  rating?: FilmRating;
  ratings_count?: number;
  wish_count?: number;
  collect_count?: number;
  do_count?: number | null;
  images?: ImageSet;
  subtype?: string;
  directors?: PersonCredit[];
  casts?: PersonCredit[];
  writers?: PersonCredit[];
  website?: string;
  service_site?: string;
  /** `service_site`, as the real service names it. */
  douban_site?: string;
  pubdates?: string[];
  mainland_pubdate?: string;
  pubdate?: string;
  year?: string;
  languages?: string[];
  durations?: string[];
  genres?: string[];
  countries?: string[];
  summary?: string;
  comments_count?: number;
  reviews_count?: number;
  seasons_count?: number | null;
  current_season?: number | null;
  episodes_count?: number | null;
  schedule_url?: string;
  trailer_urls?: string[];
  clip_urls?: string[];
  blooper_urls?: string[];
  photos?: PhotoRecord[];
  popular_reviews?: FilmReviewRecord[];
}

const advanced: readonly Tier[] = ['advance', 'premium'];

/** Every member of a full subject, and the tiers that get it. */
// prettier-ignore
export const subjectMembers = {
  id: tiers, title: tiers, original_title: tiers, aka: tiers, alt: tiers, mobile_url: tiers, rating: tiers, ratings_count: tiers,
  wish_count: tiers, collect_count: tiers, do_count: tiers, images: tiers, subtype: tiers, directors: tiers, casts: tiers,
  writers: advanced, website: advanced, service_site: tiers, douban_site: tiers, pubdates: advanced, mainland_pubdate: advanced,
  pubdate: advanced, year: tiers, languages: advanced, durations: advanced, genres: tiers, countries: tiers, summary: tiers,
  comments_count: tiers, reviews_count: tiers, seasons_count: tiers, current_season: tiers, episodes_count: tiers, schedule_url: tiers,
  trailer_urls: advanced, clip_urls: advanced, blooper_urls: advanced, photos: advanced, popular_reviews: advanced,
} as const satisfies Record<keyof SubjectRecord, readonly Tier[]>;

export interface WorkRecord {
  roles?: string[];
  subject: SubjectRecord;
}
export interface CelebrityRecord {
  id: string | null;
  name: string;
  name_en?: string;
  alt?: string | null;
  mobile_url?: string;
  avatars?: ImageSet | null;
  summary?: string;
  aka?: string[];
  aka_en?: string[];
  website?: string;
  gender?: string;
  birthday?: string;
  born_place?: string;
  professions?: string[];
  constellation?: string;
  photos?: PhotoRecord[];
  works?: WorkRecord[];
}
const twoTiers: readonly Tier[] = ['basic', 'advance'];
const advanceOnly: readonly Tier[] = ['advance'];
/** Every member of a full celebrity, and the tiers that get it; the premium tier may not read the record. */
// prettier-ignore
export const celebrityMembers = {
  id: twoTiers, name: twoTiers, name_en: twoTiers, alt: twoTiers, mobile_url: twoTiers, avatars: twoTiers, summary: advanceOnly,
  aka: twoTiers, aka_en: twoTiers, website: advanceOnly, gender: twoTiers, birthday: advanceOnly, born_place: twoTiers,
  professions: advanceOnly, constellation: advanceOnly, photos: advanceOnly, works: twoTiers,
} as const satisfies Record<keyof CelebrityRecord, readonly Tier[]>;

export interface PhotoRecord {
  id: string;
  subject_id?: string;
  alt?: string;
  icon?: string;
  image?: string;
  thumb?: string;
  cover?: string;
  created_at?: string;
  desc?: string;
  author?: FilmUserRecord;
  album_id?: string;
  album_title?: string;
  album_url?: string;
  next_photo?: string;
  prev_photo?: string;
  position?: number;
  comments_count?: number;
  photos_count?: number;
}
/** Every member that a photo may have. */
// prettier-ignore
export const photoMembers = membersOf<PhotoRecord>()([
  'id', 'subject_id', 'alt', 'icon', 'image', 'thumb', 'cover', 'created_at', 'desc', 'author', 'album_id', 'album_title', 'album_url',
  'next_photo', 'prev_photo', 'position', 'comments_count', 'photos_count',
]);
interface FilmOpinion {
  id: string;
  created_at?: string;
  subject_id?: string;
  author?: FilmUserRecord;
  rating?: FilmUserRating;
  useful_count?: number;
}
export interface FilmReviewRecord extends FilmOpinion {
  title: string;
  alt?: string;
  updated_at?: string;
  summary?: string;
  useless_count?: number;
  comments_count?: number;
}
export interface FilmCommentRecord extends FilmOpinion {
  content: string;
}

/** The members that each short representation provides. */
export const simpleSubject = {
  members: ['id', 'title', 'original_title', 'alt', 'images', 'rating', 'year', 'subtype'],
} as const satisfies Representation;
export const simpleCelebrity = { members: ['id', 'name', 'alt', 'avatars'] } as const satisfies Representation;
export const simplePhoto: Representation = { members: ['id', 'alt', 'icon', 'image', 'thumb', 'cover'] };
export const simpleReview: Representation = {
  members: ['id', 'title', 'alt', 'subject_id', 'author', 'rating', 'summary'],
};

export type SubjectPage = ListPage & { title?: string; query?: string; tag?: string; subjects: SubjectRecord[] };
export type PhotoPage = ListPage & { subject?: SubjectRecord; celebrity?: PersonCredit; photos: PhotoRecord[] };
type FilmReviewPage = ListPage & { subject?: SubjectRecord; reviews: FilmReviewRecord[] };
type FilmCommentPage = ListPage & { subject?: SubjectRecord; comments: FilmCommentRecord[] };
type WorkPage = ListPage & { celebrity?: PersonCredit; works: WorkRecord[] };

interface Chart<Item> {
  title?: string;
  subjects: Item[];
}
export interface Ranked {
  rank: number;
  subject: SubjectRecord;
}
export interface BoxOfficeItem extends Ranked {
  /** US dollars. */
  box?: number;
  new?: boolean;
}
export interface WeeklyItem extends Ranked {
  /** Negative if the film fell. */
  delta?: number;
}
export type BoxOffice = Chart<BoxOfficeItem> & { date?: string };
export type Weekly = Chart<WeeklyItem>;
export type NewMovies = Chart<SubjectRecord>;

type FilmSearch = BookSearch;
interface TheaterQuery extends Fields, Window {
  /** A Chinese name or a numeric id; absent: a fixed city. */
  city?: string | undefined;
}

/** The rate limit and the tiers concern all film endpoints, a write too. */
export const filmFacts: TableFacts = { ...v2, group: '/v2/movie', share: 'tier', isTiered: true, isLimited: true };

const advancedOnly = { tiers: advanced } as const;

// Keep the columns aligned.
// prettier-ignore
export const filmEndpoints = endpointTable(filmFacts, {
  subject:         endpoint('GET /v2/movie/subject/:id',          'movie_basic_r',   takes<Fields>(),          gives<SubjectRecord>(200),   { ...byOwnId, freshSeconds: 3600, gates: { members: subjectMembers, rarelyEmpty: ['durations', 'languages', 'pubdates'] } }),
  celebrity:       endpoint('GET /v2/movie/celebrity/:id',        'movie_basic_r',   takes<Fields>(),          gives<CelebrityRecord>(200), { ...byOwnId, freshSeconds: 3600, tiers: twoTiers, gates: { members: celebrityMembers, rarelyEmpty: ['birthday', 'constellation', 'professions'] } }),
  photos:          endpoint('GET /v2/movie/subject/:id/photos',   'movie_advance_r', takes<Fields & Window>(), gives<PhotoPage>(200),       { ...advancedOnly, list: 'photos' }),
  reviews:         endpoint('GET /v2/movie/subject/:id/reviews',  'movie_advance_r', takes<Fields & Window>(), gives<FilmReviewPage>(200),  { ...advancedOnly, list: 'reviews' }),
  comments:        endpoint('GET /v2/movie/subject/:id/comments', 'movie_advance_r', takes<Fields & Window>(), gives<FilmCommentPage>(200), { ...advancedOnly, list: 'comments' }),
  works:           endpoint('GET /v2/movie/celebrity/:id/works',  'movie_advance_r', takes<Fields & Window>(), gives<WorkPage>(200),        { ...advancedOnly, list: 'works' }),
  celebrityPhotos: endpoint('GET /v2/movie/celebrity/:id/photos', 'movie_advance_r', takes<Fields & Window>(), gives<PhotoPage>(200),       { ...advancedOnly, list: 'photos' }),
  search:          endpoint('GET /v2/movie/search',               'movie_basic_r',   takes<FilmSearch>(),      gives<SubjectPage>(200),     { list: 'subjects' }),
  top250:          endpoint('GET /v2/movie/top250',               'movie_basic_r',   takes<Fields & Window>(), gives<SubjectPage>(200),     { tiers: twoTiers, list: 'subjects' }),
  usBox:           endpoint('GET /v2/movie/us_box',               'movie_basic_r',   takes<Fields>(),          gives<BoxOffice>(200),       { tiers: twoTiers, list: 'subjects' }),
  weekly:          endpoint('GET /v2/movie/weekly',               'movie_advance_r', takes<Fields>(),          gives<Weekly>(200),          { tiers: advanceOnly, list: 'subjects' }),
  newMovies:       endpoint('GET /v2/movie/new_movies',           'movie_advance_r', takes<Fields>(),          gives<NewMovies>(200),       { tiers: advanceOnly, list: 'subjects' }),
  inTheaters:      endpoint('GET /v2/movie/in_theaters',          'movie_premium_r', takes<TheaterQuery>(),    gives<SubjectPage>(200),     { ...advancedOnly, list: 'subjects' }),
  // Not specified: the request lists basic and advance, the response advance and premium. All three may call it.
  comingSoon:      endpoint('GET /v2/movie/coming_soon',          'movie_premium_r', takes<Fields & Window>(), gives<SubjectPage>(200),     { list: 'subjects' }),
});
