import type { Tier } from '../../api/endpoint.ts';
import {
  BASIC_SEARCH_TOTAL,
  type BoxOffice,
  type CelebrityRecord,
  FILM_COUNT_DEFAULT,
  type FilmCommentPage,
  type FilmReviewPage,
  type FilmReviewRecord,
  type FilmSearch,
  type FilmUserRecord,
  LIST_COUNT_DEFAULT,
  type NewMovies,
  type PersonCredit,
  type PhotoPage,
  type PhotoRecord,
  RECORD_CASTS,
  RECORD_GENRES,
  RECORD_PHOTOS,
  RECORD_REVIEWS,
  RECORD_URLS,
  RECORD_WORKS,
  REVIEW_SUMMARY_MAX,
  type SubjectPage,
  type SubjectRecord,
  type TheaterQuery,
  WORKS_COUNT_DEFAULT,
  type Weekly,
  type WorkPage,
  type WorkRecord,
  celebrityMembers,
  subjectMembers,
} from '../../api/film.ts';
import type { Window } from '../../api/endpoint.ts';
import { drawnUrl } from '../store/drawn-pictures.ts';
import type { Slice } from '../store/book.ts';
import type { CityStore } from '../store/city.ts';
import type { FilmStore, StoredFilmComment, StoredFilmPhoto, StoredFilmReview, StoredSubject } from '../store/film.ts';
import { type PeopleStore, avatarOf, webPage } from '../store/people.ts';
import type { CelebrityRow, CreditRow, PersonRow } from '../store/schema.ts';
import { Rejection } from './rejection.ts';

/** The stores for films, and the tier of the request. */
export interface Cinema {
  films: FilmStore;
  people: PeopleStore;
  cities: CityStore;
  tier: Tier;
}
type Of = { id: string };

/** Not specified: the default city is the capital. */
const CITY_DEFAULT = '北京';

export function subject(cinema: Cinema, id: string): SubjectRecord {
  const [record] = fullSubjects(cinema, [existing(cinema, id).id]);
  if (!record) throw new Rejection(5000);
  return record;
}

export function celebrity({ films, tier }: Cinema, id: string): CelebrityRecord {
  const row = films.celebrity(id);
  if (!row) throw new Rejection(5000);
  const album = films.photos({ celebrity: id }, { start: 0, count: RECORD_PHOTOS });
  const works = films.works(id, { start: 0, count: RECORD_WORKS });
  const page = `https://movie.catalog.example/celebrity/${id}/`;
  const record: CelebrityRecord = {
    ...simpleCelebrity(row),
    name_en: row.name_en,
    mobile_url: `${page}mobile`,
    summary: row.summary,
    aka: list(row.aka),
    aka_en: list(row.aka_en),
    website: row.website,
    gender: row.gender,
    birthday: row.birthday,
    born_place: row.born_place,
    professions: list(row.professions),
    constellation: row.constellation,
    photos: album.rows.map(simplePhoto),
    works: workRecords(films, tier, works.rows),
  };
  return forTier(record, celebrityMembers, tier);
}

export function subjectPhotos(cinema: Cinema, { id, ...window }: Of & Window): PhotoPage {
  const row = existing(cinema, id);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const { rows, total } = cinema.films.photos({ subject: id }, span);
  const album = { id, title: `${row.title}的剧照`, url: `${webPageOf(id)}photos`, total };
  return { ...span, total, subject: simpleSubject(row, cinema.tier), photos: photoRecords(cinema, rows, album) };
}

export function celebrityPhotos(cinema: Cinema, { id, ...window }: Of & Window): PhotoPage {
  const row = cinema.films.celebrity(id);
  if (!row) throw new Rejection(5000);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const { rows, total } = cinema.films.photos({ celebrity: id }, span);
  const of = simpleCelebrity(row);
  const album = { id, title: `${row.name}的图片`, url: `${of.alt}photos`, total };
  return { ...span, total, celebrity: of, photos: photoRecords(cinema, rows, album) };
}

export function reviews(cinema: Cinema, { id, ...window }: Of & Window): FilmReviewPage {
  const row = existing(cinema, id);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const rows = cinema.films.reviews(id, span);
  const authors = cinema.people.byIds(rows.map((review) => review.person_id));
  return {
    ...span,
    total: cinema.films.tallies([id]).get(id)?.reviews ?? 0,
    subject: simpleSubject(row, cinema.tier),
    reviews: rows.map((review) => ({
      ...simpleReview(review, authors),
      created_at: review.created,
      updated_at: review.updated,
      useful_count: review.useful,
      useless_count: review.useless,
      comments_count: review.comments,
    })),
  };
}

export function comments(cinema: Cinema, { id, ...window }: Of & Window): FilmCommentPage {
  const row = existing(cinema, id);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const rows = cinema.films.comments(id, span);
  const authors = cinema.people.byIds(rows.map((comment) => comment.person_id));
  return {
    ...span,
    total: cinema.films.tallies([id]).get(id)?.comments ?? 0,
    subject: simpleSubject(row, cinema.tier),
    comments: rows.map((comment: StoredFilmComment) => ({
      id: String(comment.id),
      created_at: comment.created,
      subject_id: comment.subject_id,
      author: filmUser(authors.get(comment.person_id)),
      content: comment.content,
      rating: { max: 5, value: comment.rating, min: 0 },
      useful_count: comment.useful,
    })),
  };
}

export function works({ films, tier }: Cinema, { id, ...window }: Of & Window): WorkPage {
  const row = films.celebrity(id);
  if (!row) throw new Rejection(5000);
  const span = spanOf(window, WORKS_COUNT_DEFAULT);
  const { rows, total } = films.works(id, span);
  return { ...span, total, celebrity: simpleCelebrity(row), works: workRecords(films, tier, rows) };
}

export function searchFilms({ films, tier }: Cinema, { q, tag, ...window }: FilmSearch): SubjectPage {
  const words = q?.trim() || undefined;
  const named = tag?.trim() || undefined;
  if (!words && !named) throw new Rejection(1002);
  const span = spanOf(window, FILM_COUNT_DEFAULT);
  // The basic tier can reach only as many films as the total that it gets.
  const most = tier === 'basic' ? Math.max(0, BASIC_SEARCH_TOTAL - span.start) : Infinity;
  const found = films.search({ q: words, tag: named }, { ...span, count: Math.min(span.count, most) });
  return {
    ...span,
    total: tier === 'basic' ? Math.min(found.total, BASIC_SEARCH_TOTAL) : found.total,
    query: q ?? '',
    tag: tag ?? '',
    title: words ? `搜索 "${words}" 的结果` : `带有标签 "${named}" 的条目`,
    subjects: films.subjects(found.ids).map((row) => simpleSubject(row, tier)),
  };
}

export function top250({ films, tier }: Cinema, window: Window): SubjectPage {
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const { rows, total } = films.chart('top250', span);
  const subjects = films.subjects(rows.map((row) => row.subject_id));
  return { ...span, total, title: '电影Top250', subjects: subjects.map((row) => simpleSubject(row, tier)) };
}

export function usBox({ films, tier }: Cinema): BoxOffice {
  const { rows } = films.chart('us_box');
  const summaries = simpleByIds(films, tier, rows);
  return {
    title: '北美票房榜',
    date: '8月23日 - 8月25日',
    subjects: rows.flatMap(({ position, box, is_new, subject_id }) => {
      const of = summaries.get(subject_id);
      return of ? [{ rank: position, box: box ?? 0, new: is_new === 1, subject: of }] : [];
    }),
  };
}

export function weekly({ films, tier }: Cinema): Weekly {
  const { rows } = films.chart('weekly');
  const summaries = simpleByIds(films, tier, rows);
  return {
    title: '本周口碑榜',
    subjects: rows.flatMap(({ position, delta, subject_id }) => {
      const of = summaries.get(subject_id);
      return of ? [{ rank: position, delta: delta ?? 0, subject: of }] : [];
    }),
  };
}

export function newMovies({ films, tier }: Cinema): NewMovies {
  const ids = films.chart('new_movies').rows.map((row) => row.subject_id);
  return { title: '新片榜', subjects: films.subjects(ids).map((row) => simpleSubject(row, tier)) };
}

export function inTheaters(cinema: Cinema, { city = CITY_DEFAULT, ...window }: TheaterQuery): SubjectPage {
  const span = spanOf(window, FILM_COUNT_DEFAULT);
  const found = cinema.cities.named(city.trim());
  // Not specified: an unknown city. It has no films.
  const { rows, total } = found ? cinema.films.chart(`in_theaters/${found.id}`, span) : { rows: [], total: 0 };
  const subjects = fullSubjects(
    cinema,
    rows.map((row) => row.subject_id),
  );
  return { title: `正在上映的电影-${found?.name ?? city.trim()}`, ...span, total, subjects };
}

export function comingSoon(cinema: Cinema, window: Window): SubjectPage {
  const span = spanOf(window, FILM_COUNT_DEFAULT);
  const { rows, total } = cinema.films.chart('coming_soon', span);
  const subjects = fullSubjects(
    cinema,
    rows.map((row) => row.subject_id),
  );
  return { title: '即将上映的电影', ...span, total, subjects };
}

const spanOf = ({ start = 0, count }: Window, usual: number): Slice => ({ start, count: count ?? usual });

function existing({ films }: Cinema, id: string): StoredSubject {
  const row = films.subject(id);
  if (!row) throw new Rejection(5000);
  return row;
}

/** Members that the tier of the caller does not include are absent, not empty. */
function forTier<T extends object>(record: T, members: Record<string, readonly Tier[]>, tier: Tier): T {
  return Object.fromEntries(Object.entries(record).filter(([name]) => members[name]?.includes(tier))) as T;
}

function fullSubjects(cinema: Cinema, ids: readonly string[]): SubjectRecord[] {
  const { films, people, tier } = cinema;
  const credits = films.credits(ids);
  const tallies = films.tallies(ids);
  const photos = films.firstPhotos(ids, RECORD_PHOTOS);
  const first = films.firstReviews(ids, RECORD_REVIEWS);
  const authors = people.byIds([...first.values()].flat().map((review) => review.person_id));
  return films.subjects(ids).map((row) => {
    const { id } = row;
    const page = webPageOf(id);
    const isFilm = row.subtype === 'movie';
    const people = (job: CreditRow['job'], most = Infinity) =>
      (credits.get(id) ?? [])
        .filter((credit) => credit.job === job)
        .slice(0, most)
        .map(credited);
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
      directors: people('directors'),
      casts: people('casts', RECORD_CASTS),
      writers: people('writers'),
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
      comments_count: tallies.get(id)?.comments ?? 0,
      reviews_count: tallies.get(id)?.reviews ?? 0,
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

function simpleMembers(row: StoredSubject): SubjectRecord {
  return {
    id: row.id,
    title: row.title,
    original_title: row.original_title,
    alt: webPageOf(row.id),
    images: imagesOf('subject', row.id),
    rating: ratingOf(row),
    pubdates: list(row.pubdates),
    year: row.year,
    subtype: row.subtype,
  };
}

const simpleSubject = (row: StoredSubject, tier: Tier) => forTier(simpleMembers(row), subjectMembers, tier);

function simpleByIds(films: FilmStore, tier: Tier, rows: readonly { subject_id: string }[]) {
  const subjects = films.subjects(rows.map((row) => row.subject_id));
  return new Map(subjects.map((row) => [row.id, simpleSubject(row, tier)]));
}

function workRecords(
  films: FilmStore,
  tier: Tier,
  rows: readonly { subject_id: string; roles: string }[],
): WorkRecord[] {
  const summaries = simpleByIds(films, tier, rows);
  return rows.flatMap(({ subject_id, roles }) => {
    const of = summaries.get(subject_id);
    return of ? [{ roles: list(roles), subject: of }] : [];
  });
}

const ratingOf = (row: StoredSubject) => ({
  max: 10,
  average: row.rating_average,
  stars: row.rating_stars,
  min: 0,
});

function simpleCelebrity(row: CelebrityRow) {
  return {
    id: row.id,
    name: row.name,
    alt: `https://movie.catalog.example/celebrity/${row.id}/`,
    avatars: imagesOf('celebrity', row.id),
  };
}

/** Some credited people have no page. */
function credited({ celebrity_id, name }: CreditRow): PersonCredit {
  if (celebrity_id === null) return { id: null, name, alt: null, avatars: null };
  const alt = `https://movie.catalog.example/celebrity/${celebrity_id}/`;
  return { id: celebrity_id, name, alt, avatars: imagesOf('celebrity', celebrity_id) };
}

function simplePhoto({ id }: StoredFilmPhoto): PhotoRecord {
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

type Linked = StoredFilmPhoto & { previous: number | null; next: number | null };

function photoRecords(
  { people }: Cinema,
  rows: readonly Linked[],
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

function simpleReview(review: StoredFilmReview, authors: ReadonlyMap<string, PersonRow>): FilmReviewRecord {
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

function filmUser(person: PersonRow | undefined): FilmUserRecord {
  if (!person) throw new Error('an author is missing'); // a foreign key prevents it
  const { id, uid, name, signature } = person;
  return { id, name, uid, signature, alt: webPage(person), avatar: avatarOf(person) };
}

const webPageOf = (id: string) => `https://movie.catalog.example/subject/${id}/`;

function imagesOf(kind: 'subject' | 'celebrity', id: string) {
  const at = (size: 'small' | 'medium' | 'large') => drawnUrl(kind, size, id);
  return { small: at('small'), large: at('large'), medium: at('medium') };
}

/** Reads a list of texts in the format of the store. */
const list = (json: string) => JSON.parse(json) as string[];
