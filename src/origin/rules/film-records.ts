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
import type { AlbumPhoto } from '../store/film.ts';
import { type Person, briefUser } from '../store/people.ts';
import type { Stored } from '../store/schema.ts';
import type { Call } from './call.ts';

type SubjectRow = Stored<'subjects'>;
type CelebrityRow = Stored<'celebrities'>;

/** Members that the tier of the caller does not include are absent, not empty. */
function forTier<T extends object>(record: T, members: Record<string, readonly Tier[]>, tier: Tier): T {
  return Object.fromEntries(Object.entries(record).filter(([name]) => members[name]?.includes(tier))) as T;
}

export function fullSubjects({ films, people, tier }: Call, rows: readonly SubjectRow[]): SubjectRecord[] {
  const ids = rows.map((row) => row.id);
  const credits = films.credits(ids);
  const comments = films.counts('film_comments', ids);
  const reviews = films.counts('film_reviews', ids);
  const photos = films.firstPhotos(ids, RECORD_PHOTOS);
  const first = films.firstReviews(ids, RECORD_REVIEWS);
  const authors = people.byIds([...first.values()].flat().map((review) => review.person_id));
  return rows.map((row) => {
    const { id } = row;
    const page = webPageOf(id);
    const isFilm = row.subtype === 'movie';
    const creditedFor = (job: Stored<'credits'>['job']) =>
      (credits.get(id) ?? []).filter((credit) => credit.job === job).map(credited);
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
      ratings_count: row.ratings_count,
      wish_count: row.wish_count,
      collect_count: row.collect_count,
      do_count: row.do_count,
      directors: creditedFor('directors'),
      casts: creditedFor('casts').slice(0, RECORD_CASTS),
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
      comments_count: comments.get(id) ?? 0,
      reviews_count: reviews.get(id) ?? 0,
      seasons_count: row.seasons_count,
      current_season: row.current_season,
      episodes_count: row.episodes_count,
      schedule_url: isFilm ? `${page}cinema/` : '',
      trailer_urls: urls('trailer', row.trailers),
      clip_urls: urls('clip', row.clips),
      blooper_urls: urls('blooper', row.bloopers),
      photos: (photos.get(id) ?? []).map(simplePhoto),
      popular_reviews: (first.get(id) ?? []).map((review) => simpleReview(review, authors)),
    };
    return forTier(record, subjectMembers, tier);
  });
}

export function fullCelebrity(call: Call, row: CelebrityRow): CelebrityRecord {
  const { id } = row;
  const album = call.films.photosOfCelebrity(id, { start: 0, count: RECORD_PHOTOS });
  const works = call.films.works(id, { start: 0, count: RECORD_WORKS });
  const simple = simpleCelebrityRecord(row);
  const record: CelebrityRecord = {
    ...simple,
    name_en: row.name_en,
    mobile_url: `${simple.alt}mobile`,
    summary: row.summary,
    aka: list(row.aka),
    aka_en: list(row.aka_en),
    website: row.website,
    gender: row.gender,
    birthday: row.birthday,
    born_place: row.born_place,
    professions: list(row.professions),
    constellation: row.constellation,
    photos: album.items.map(simplePhoto),
    works: workRecords(call, works.items),
  };
  return forTier(record, celebrityMembers, call.tier);
}

function simpleMembers(row: SubjectRow): SubjectRecord {
  return {
    id: row.id,
    title: row.title,
    original_title: row.original_title,
    alt: webPageOf(row.id),
    images: drawnImages('subject', row.id),
    rating: ratingOf(row),
    pubdates: list(row.pubdates),
    year: row.year,
    subtype: row.subtype,
  };
}

export const simpleSubjectRecord = ({ tier }: Call, row: SubjectRow): SubjectRecord =>
  forTier(simpleMembers(row), subjectMembers, tier);

type OfSubject = { subject_id: string };

export const subjectsOf = ({ films }: Call, rows: readonly OfSubject[]): SubjectRow[] =>
  films.subjects(rows.map((row) => row.subject_id));

/** A record for each row, made of the row and the film that it refers to. */
export function withSubjects<Row extends OfSubject, Made>(
  call: Call,
  rows: readonly Row[],
  make: (row: Row, subject: SubjectRecord) => Made,
): Made[] {
  const subjects = new Map(subjectsOf(call, rows).map((row) => [row.id, simpleSubjectRecord(call, row)]));
  return rows.map((row) => make(row, subjects.get(row.subject_id)!));
}

export const workRecords = (call: Call, rows: readonly Stored<'works'>[]): WorkRecord[] =>
  withSubjects(call, rows, ({ roles }, subject) => ({ roles: list(roles), subject }));

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

export function photoRecords(
  { people }: Call,
  rows: readonly AlbumPhoto[],
  album: { id: string; title: string; url: string; total: number },
): PhotoRecord[] {
  const authors = people.byIds(rows.map((row) => row.person_id));
  return rows.map((row) => ({
    ...simplePhoto(row),
    subject_id: row.subject_id,
    created_at: row.created,
    desc: row.description,
    author: filmUser(authors.get(row.person_id)),
    album_id: album.id,
    album_title: album.title,
    album_url: album.url,
    next_photo: row.next === null ? '' : String(row.next),
    prev_photo: row.previous === null ? '' : String(row.previous),
    position: row.position,
    comments_count: row.comments_count,
    photos_count: album.total,
  }));
}

export function reviewRecords({ people }: Call, rows: readonly Stored<'film_reviews'>[]): FilmReviewRecord[] {
  const authors = people.byIds(rows.map((review) => review.person_id));
  return rows.map((review) => ({
    ...simpleReview(review, authors),
    created_at: review.created,
    updated_at: review.updated,
    useful_count: review.useful,
    useless_count: review.useless,
    comments_count: review.comments,
  }));
}

function simpleReview(review: Stored<'film_reviews'>, authors: ReadonlyMap<string, Person>): FilmReviewRecord {
  return {
    id: String(review.id),
    title: review.title,
    alt: `https://movie.catalog.example/review/${review.id}/`,
    subject_id: review.subject_id,
    author: filmUser(authors.get(review.person_id)),
    rating: { max: 5, value: review.rating, min: 0 },
    summary: [...review.content].slice(0, REVIEW_SUMMARY_MAX).join(''),
  };
}

export function commentRecords({ people }: Call, rows: readonly Stored<'film_comments'>[]): FilmCommentRecord[] {
  const authors = people.byIds(rows.map((comment) => comment.person_id));
  return rows.map((comment) => ({
    id: String(comment.id),
    created_at: comment.created,
    subject_id: comment.subject_id,
    author: filmUser(authors.get(comment.person_id)),
    content: comment.content,
    rating: { max: 5, value: comment.rating, min: 0 },
    useful_count: comment.useful,
  }));
}

function filmUser(person: Person | undefined): FilmUserRecord {
  if (!person) throw new Error('an author is missing'); // a foreign key prevents it
  return { ...briefUser(person), signature: person.signature };
}

export const webPageOf = (id: string) => `https://movie.catalog.example/subject/${id}/`;

/** Reads a list of texts in the format of the store. */
const list = (json: string) => JSON.parse(json) as string[];
