import type { Tier } from '../../api/endpoint.ts';
import {
  type CelebrityRecord,
  type FilmCommentRecord,
  type FilmReviewRecord,
  type FilmUserRecord,
  type PersonCredit,
  type PhotoRecord,
  RECORD_CASTS,
  RECORD_GENRES,
  RECORD_PHOTOS,
  RECORD_REVIEWS,
  RECORD_URLS,
  RECORD_WORKS,
  REVIEW_SUMMARY_MAX,
  type SubjectRecord,
  type WorkRecord,
  celebrityMembers,
  subjectMembers,
} from '../../api/film.ts';
import { drawnImages, drawnUrl } from '../store/drawn-pictures.ts';
import type { Stored } from '../store/database/schema.ts';
import type { Call } from './call.ts';
import { columns } from './members.ts';
import { briefUser, personOfRow } from './person.ts';

type SubjectRow = Stored<'subjects'>;
type CelebrityRow = Stored<'celebrities'>;

/** Members that the tier of the caller does not include are absent, not empty. */
function forTier<T extends object>(record: T, members: Record<string, readonly Tier[]>, tier: Tier): T {
  return Object.fromEntries(Object.entries(record).filter(([name]) => members[name]?.includes(tier))) as T;
}

export function fullSubject(call: Call, row: SubjectRow): SubjectRecord {
  const { db, tier } = call;
  const { id } = row;
  const page = webPageOf(id);
  const isFilm = row.subtype === 'movie';
  const reviews = db.list('film_reviews', { subject_id: id }, { start: 0, count: RECORD_REVIEWS });
  const photos = db.rows('film_photos', { subject_id: id, celebrity_id: null }, RECORD_PHOTOS);
  const creditedFor = (job: Stored<'credits'>['job'], most?: number) =>
    db.rows('credits', { subject_id: id, job }, most).map(credited);
  const urls = (kind: string, most: number) =>
    Array.from(
      { length: Math.min(most, RECORD_URLS) },
      (_, n) => `https://video.catalog.example/${id}/${kind}-${n + 1}.mp4`,
    );
  const record: SubjectRecord = {
    ...simpleMembers(row),
    aka: list(row.aka),
    mobile_url: `${page}mobile`,
    // The specified Rating of a full subject is an integer without the decimal of lists, so send the members of both forms.
    rating: { ...ratingOf(row), value: Math.round(row.rating_average) },
    ...columns(row, 'ratings_count', 'wish_count', 'collect_count', 'do_count'),
    directors: creditedFor('directors'),
    casts: creditedFor('casts', RECORD_CASTS),
    writers: creditedFor('writers'),
    website: row.website,
    service_site: row.mini_site,
    pubdates: list(row.pubdates),
    mainland_pubdate: row.mainland_pubdate,
    pubdate: row.mainland_pubdate,
    languages: list(row.languages),
    durations: list(row.durations),
    genres: list(row.genres).slice(0, RECORD_GENRES),
    countries: list(row.countries),
    summary: row.summary,
    comments_count: db.count('film_comments', { subject_id: id }),
    reviews_count: reviews.total,
    ...columns(row, 'seasons_count', 'current_season', 'episodes_count'),
    schedule_url: isFilm ? `${page}cinema/` : '',
    trailer_urls: urls('trailer', row.trailers),
    clip_urls: urls('clip', row.clips),
    blooper_urls: urls('blooper', row.bloopers),
    photos: photos.map(simplePhoto),
    popular_reviews: reviews.items.map((review) => simpleReview(call, review)),
  };
  return forTier(record, subjectMembers, tier);
}

export function fullCelebrity(call: Call, row: CelebrityRow): CelebrityRecord {
  const { id } = row;
  const simple = simpleCelebrityRecord(row);
  const record: CelebrityRecord = {
    ...simple,
    name_en: row.name_en,
    mobile_url: `${simple.alt}mobile`,
    summary: row.summary,
    aka: list(row.aka),
    aka_en: list(row.aka_en),
    ...columns(row, 'website', 'gender', 'birthday', 'born_place'),
    professions: list(row.professions),
    constellation: row.constellation,
    photos: call.db.rows('film_photos', { celebrity_id: id }, RECORD_PHOTOS).map(simplePhoto),
    works: call.db.rows('works', { celebrity_id: id }, RECORD_WORKS).map((work) => workRecord(call, work)),
  };
  return forTier(record, celebrityMembers, call.tier);
}

function simpleMembers(row: SubjectRow): SubjectRecord {
  return {
    ...columns(row, 'id', 'title', 'original_title'),
    alt: webPageOf(row.id),
    images: drawnImages('subject', row.id),
    rating: ratingOf(row),
    pubdates: list(row.pubdates),
    ...columns(row, 'year', 'subtype'),
  };
}

export const simpleSubjectRecord = ({ tier }: Call, row: SubjectRow): SubjectRecord =>
  forTier(simpleMembers(row), subjectMembers, tier);

/** The film that a row refers to; a foreign key guarantees that there is one. */
export const subjectOf = ({ db }: Call, { subject_id }: { subject_id: string }): SubjectRow =>
  db.find('subjects', { id: subject_id })!;

export const simpleSubjectOf = (call: Call, row: { subject_id: string }) =>
  simpleSubjectRecord(call, subjectOf(call, row));

export const workRecord = (call: Call, work: Stored<'works'>): WorkRecord => ({
  roles: list(work.roles),
  subject: simpleSubjectOf(call, work),
});

const ratingOf = (row: SubjectRow) => ({
  max: 10,
  average: row.rating_average,
  stars: Number(row.rating_stars),
  min: 0,
});

export function simpleCelebrityRecord({ id, name }: Pick<CelebrityRow, 'id' | 'name'>) {
  return { id, name, alt: `https://movie.catalog.example/celebrity/${id}/`, avatars: drawnImages('celebrity', id) };
}

/** Some credited people have no page. */
function credited({ celebrity_id, name }: Stored<'credits'>): PersonCredit {
  if (celebrity_id === null) return { id: null, name, alt: null, avatars: null };
  return simpleCelebrityRecord({ id: celebrity_id, name });
}

function simplePhoto({ id }: Stored<'film_photos'>): PhotoRecord {
  const at = (size: 'icon' | 'thumb' | 'cover' | 'large') => drawnUrl('photo', size, String(id));
  return {
    id: String(id),
    alt: `https://movie.catalog.example/photos/photo/${id}/`,
    icon: at('icon'),
    image: at('large'),
    thumb: at('thumb'),
    cover: at('cover'),
  };
}

export interface Album {
  id: string;
  title: string;
  url: string;
  photos: readonly Stored<'film_photos'>[];
}

export const albumRecords = (call: Call, { id, title, url, photos }: Album): PhotoRecord[] =>
  photos.map((row, n) => ({
    ...simplePhoto(row),
    subject_id: row.subject_id,
    created_at: row.created,
    desc: row.description,
    author: filmUser(call, row),
    album_id: id,
    album_title: title,
    album_url: url,
    next_photo: String(photos[n + 1]?.id ?? ''),
    prev_photo: String(photos[n - 1]?.id ?? ''),
    position: row.position,
    comments_count: row.comments_count,
    photos_count: photos.length,
  }));

export const reviewRecord = (call: Call, review: Stored<'film_reviews'>): FilmReviewRecord => ({
  ...simpleReview(call, review),
  created_at: review.created,
  updated_at: review.updated,
  useful_count: review.useful,
  useless_count: review.useless,
  comments_count: review.comments,
});

const simpleReview = (call: Call, review: Stored<'film_reviews'>): FilmReviewRecord => ({
  id: String(review.id),
  title: review.title,
  alt: `https://movie.catalog.example/review/${review.id}/`,
  subject_id: review.subject_id,
  author: filmUser(call, review),
  rating: { max: 5, value: review.rating, min: 0 },
  summary: [...review.content].slice(0, REVIEW_SUMMARY_MAX).join(''),
});

export const commentRecord = (call: Call, comment: Stored<'film_comments'>): FilmCommentRecord => ({
  id: String(comment.id),
  created_at: comment.created,
  subject_id: comment.subject_id,
  author: filmUser(call, comment),
  content: comment.content,
  rating: { max: 5, value: comment.rating, min: 0 },
  useful_count: comment.useful,
});

function filmUser(call: Call, row: { person_id: string }): FilmUserRecord {
  const person = personOfRow(call, row);
  return { ...briefUser(person), signature: person.signature };
}

export const webPageOf = (id: string) => `https://movie.catalog.example/subject/${id}/`;

/** Reads a list of texts in the format of the store. */
const list = (json: string) => JSON.parse(json) as string[];
