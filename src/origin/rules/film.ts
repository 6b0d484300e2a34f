import type { Window } from '../../api/endpoint.ts';
import {
  BASIC_SEARCH_TOTAL,
  type BoxOffice,
  type CelebrityRecord,
  FILM_COUNT_DEFAULT,
  type FilmCommentPage,
  type FilmReviewPage,
  type FilmSearch,
  LIST_COUNT_DEFAULT,
  type NewMovies,
  type PhotoPage,
  type SubjectPage,
  type SubjectRecord,
  type TheaterQuery,
  WORKS_COUNT_DEFAULT,
  type Weekly,
  type WorkPage,
} from '../../api/film.ts';
import type { Slice } from '../store/book.ts';
import type { StoredSubject } from '../store/film.ts';
import type { CelebrityRow } from '../store/schema.ts';
import {
  type Cinema,
  commentRecords,
  fullCelebrity,
  fullSubjects,
  photoRecords,
  reviewRecords,
  simpleByIds,
  simpleCelebrityRecord,
  simpleSubjectRecord,
  webPageOf,
  workRecords,
} from './film-records.ts';
import { Rejection } from './rejection.ts';

type Of = { id: string };

/** Not specified: the default city is the capital. */
const CITY_DEFAULT = '北京';

export function subject(cinema: Cinema, id: string): SubjectRecord {
  const [record] = fullSubjects(cinema, [existing(cinema, id).id]);
  if (!record) throw new Rejection(5000);
  return record;
}

export function celebrity(cinema: Cinema, id: string): CelebrityRecord {
  return fullCelebrity(cinema, existingCelebrity(cinema, id));
}

export function subjectPhotos(cinema: Cinema, { id, ...window }: Of & Window): PhotoPage {
  const row = existing(cinema, id);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const { rows, total } = cinema.films.photos({ subject: id }, span);
  const album = { id, title: `${row.title}的剧照`, url: `${webPageOf(id)}photos`, total };
  return { ...span, total, subject: simpleSubjectRecord(row, cinema.tier), photos: photoRecords(cinema, rows, album) };
}

export function celebrityPhotos(cinema: Cinema, { id, ...window }: Of & Window): PhotoPage {
  const row = existingCelebrity(cinema, id);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const { rows, total } = cinema.films.photos({ celebrity: id }, span);
  const of = simpleCelebrityRecord(row);
  const album = { id, title: `${row.name}的图片`, url: `${of.alt}photos`, total };
  return { ...span, total, celebrity: of, photos: photoRecords(cinema, rows, album) };
}

export function reviews(cinema: Cinema, { id, ...window }: Of & Window): FilmReviewPage {
  const row = existing(cinema, id);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const rows = cinema.films.reviews(id, span);
  return {
    ...span,
    total: cinema.films.tallies([id]).get(id)?.reviews ?? 0,
    subject: simpleSubjectRecord(row, cinema.tier),
    reviews: reviewRecords(cinema, rows),
  };
}

export function comments(cinema: Cinema, { id, ...window }: Of & Window): FilmCommentPage {
  const row = existing(cinema, id);
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const rows = cinema.films.comments(id, span);
  return {
    ...span,
    total: cinema.films.tallies([id]).get(id)?.comments ?? 0,
    subject: simpleSubjectRecord(row, cinema.tier),
    comments: commentRecords(cinema, rows),
  };
}

export function works(cinema: Cinema, { id, ...window }: Of & Window): WorkPage {
  const row = existingCelebrity(cinema, id);
  const span = spanOf(window, WORKS_COUNT_DEFAULT);
  const { rows, total } = cinema.films.works(id, span);
  return { ...span, total, celebrity: simpleCelebrityRecord(row), works: workRecords(cinema, rows) };
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
    subjects: films.subjects(found.ids).map((row) => simpleSubjectRecord(row, tier)),
  };
}

export function top250({ films, tier }: Cinema, window: Window): SubjectPage {
  const span = spanOf(window, LIST_COUNT_DEFAULT);
  const { rows, total } = films.chart('top250', span);
  const subjects = films.subjects(rows.map((row) => row.subject_id));
  return { ...span, total, title: '电影Top250', subjects: subjects.map((row) => simpleSubjectRecord(row, tier)) };
}

export function usBox(cinema: Cinema): BoxOffice {
  const { rows } = cinema.films.chart('us_box');
  const summaries = simpleByIds(cinema, rows);
  return {
    title: '北美票房榜',
    date: '8月23日 - 8月25日',
    subjects: rows.flatMap(({ position, box, is_new, subject_id }) => {
      const of = summaries.get(subject_id);
      return of ? [{ rank: position, box: box ?? 0, new: is_new === 1, subject: of }] : [];
    }),
  };
}

export function weekly(cinema: Cinema): Weekly {
  const { rows } = cinema.films.chart('weekly');
  const summaries = simpleByIds(cinema, rows);
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
  return { title: '新片榜', subjects: films.subjects(ids).map((row) => simpleSubjectRecord(row, tier)) };
}

export function inTheaters(cinema: Cinema, { city = CITY_DEFAULT, ...window }: TheaterQuery): SubjectPage {
  const span = spanOf(window, FILM_COUNT_DEFAULT);
  const found = cinema.cities.named(city.trim());
  // Not specified: an unknown city. It has no films.
  const { rows, total } = found ? cinema.films.chart(`in_theaters/${found.id}`, span) : { rows: [], total: 0 };
  const ids = rows.map((row) => row.subject_id);
  return { title: `正在上映的电影-${found?.name ?? city.trim()}`, ...span, total, subjects: fullSubjects(cinema, ids) };
}

export function comingSoon(cinema: Cinema, window: Window): SubjectPage {
  const span = spanOf(window, FILM_COUNT_DEFAULT);
  const { rows, total } = cinema.films.chart('coming_soon', span);
  const ids = rows.map((row) => row.subject_id);
  return { title: '即将上映的电影', ...span, total, subjects: fullSubjects(cinema, ids) };
}

const spanOf = ({ start = 0, count }: Window, usual: number): Slice => ({ start, count: count ?? usual });

function existing({ films }: Cinema, id: string): StoredSubject {
  const row = films.subject(id);
  if (!row) throw new Rejection(5000);
  return row;
}

function existingCelebrity({ films }: Cinema, id: string): CelebrityRow {
  const row = films.celebrity(id);
  if (!row) throw new Rejection(5000);
  return row;
}
