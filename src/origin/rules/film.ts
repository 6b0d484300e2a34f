import type { Window } from '../../api/endpoint.ts';
import {
  BASIC_SEARCH_TOTAL,
  FILM_COUNT_DEFAULT,
  LIST_COUNT_DEFAULT,
  type PhotoPage,
  type SubjectPage,
  WORKS_COUNT_DEFAULT,
  type filmEndpoints,
} from '../../api/film.ts';
import { pageIn } from '../store/database/database.ts';
import type { Stored } from '../store/database/schema.ts';
import { type Call, type Rules, sliceOf } from './call.ts';
import { cityNamed } from './city.ts';
import {
  type Album,
  albumRecords,
  commentRecord,
  fullCelebrity,
  fullSubject,
  reviewRecord,
  simpleCelebrityRecord,
  simpleSubjectOf,
  simpleSubjectRecord,
  subjectOf,
  webPageOf,
  workRecord,
} from './film-records.ts';
import { Rejection, found } from './rejection.ts';

/** Not specified: the default city is the capital. */
const CITY_DEFAULT = '北京';

export const filmRules = {
  subject: (call, { id }) => fullSubject(call, existing(call, id)),

  celebrity: (call, { id }) => fullCelebrity(call, existingCelebrity(call, id)),

  photos(call, { id, ...window }) {
    const row = existing(call, id);
    const photos = call.db.rows('film_photos', { subject_id: id, celebrity_id: null });
    const album = { id, title: `${row.title}的剧照`, url: `${webPageOf(id)}photos`, photos };
    return photoPage(call, album, { subject: simpleSubjectRecord(call, row) }, window);
  },

  celebrityPhotos(call, { id, ...window }) {
    const row = existingCelebrity(call, id);
    const celebrity = simpleCelebrityRecord(row);
    const photos = call.db.rows('film_photos', { celebrity_id: id });
    const album = { id, title: `${row.name}的图片`, url: `${celebrity.alt}photos`, photos };
    return photoPage(call, album, { celebrity }, window);
  },

  reviews(call, { id, ...window }) {
    const row = existing(call, id);
    const { items, ...page } = call.db.list('film_reviews', { subject_id: id }, sliceOf(window, LIST_COUNT_DEFAULT));
    return {
      ...page,
      subject: simpleSubjectRecord(call, row),
      reviews: items.map((review) => reviewRecord(call, review)),
    };
  },

  comments(call, { id, ...window }) {
    const row = existing(call, id);
    const { items, ...page } = call.db.list('film_comments', { subject_id: id }, sliceOf(window, LIST_COUNT_DEFAULT));
    return {
      ...page,
      subject: simpleSubjectRecord(call, row),
      comments: items.map((comment) => commentRecord(call, comment)),
    };
  },

  works(call, { id, ...window }) {
    const row = existingCelebrity(call, id);
    const { items, ...page } = call.db.list('works', { celebrity_id: id }, sliceOf(window, WORKS_COUNT_DEFAULT));
    return { ...page, celebrity: simpleCelebrityRecord(row), works: items.map((work) => workRecord(call, work)) };
  },

  search(call, { q, tag, ...window }) {
    const words = q?.trim() || undefined;
    const named = tag?.trim() || undefined;
    if (!words && !named) throw new Rejection(1002);
    const slice = sliceOf(window, FILM_COUNT_DEFAULT);
    // The basic tier can reach only as many films as the total that it gets.
    const totalMax = call.tier === 'basic' ? BASIC_SEARCH_TOTAL : Infinity;
    const count = Math.min(slice.count, Math.max(0, totalMax - slice.start));
    const { items, total } = call.films.search(words, named, { ...slice, count });
    return {
      ...slice,
      total: Math.min(total, totalMax),
      query: q ?? '',
      tag: tag ?? '',
      title: words ? `搜索 "${words}" 的结果` : `带有标签 "${named}" 的条目`,
      subjects: items.map((row) => simpleSubjectRecord(call, row)),
    };
  },

  top250(call, window) {
    const { items, ...page } = call.db.list('charts', { chart: 'top250' }, sliceOf(window, LIST_COUNT_DEFAULT));
    return { ...page, title: '电影Top250', subjects: items.map((row) => simpleSubjectOf(call, row)) };
  },

  usBox: (call) => ({
    title: '北美票房榜',
    date: '8月23日 - 8月25日',
    subjects: call.db.rows('charts', { chart: 'us_box' }).map((row) => ({
      rank: row.position,
      box: row.box ?? 0,
      new: row.is_new === 1,
      subject: simpleSubjectOf(call, row),
    })),
  }),

  weekly: (call) => ({
    title: '本周口碑榜',
    subjects: call.db.rows('charts', { chart: 'weekly' }).map((row) => ({
      rank: row.position,
      delta: row.delta ?? 0,
      subject: simpleSubjectOf(call, row),
    })),
  }),

  newMovies: (call) => ({
    title: '新片榜',
    subjects: call.db.rows('charts', { chart: 'new_movies' }).map((row) => simpleSubjectOf(call, row)),
  }),

  inTheaters(call, { city = CITY_DEFAULT, ...window }) {
    const known = cityNamed(call, city.trim());
    // Not specified: an unknown city. It has no films, and so no chart.
    return fullChart(call, `in_theaters/${known?.id}`, `正在上映的电影-${known?.name ?? city.trim()}`, window);
  },

  comingSoon: (call, window) => fullChart(call, 'coming_soon', '即将上映的电影', window),
} satisfies Rules<typeof filmEndpoints>;

function photoPage(
  call: Call,
  album: Album,
  owner: Pick<PhotoPage, 'subject' | 'celebrity'>,
  window: Window,
): PhotoPage {
  const { items, ...page } = pageIn(albumRecords(call, album), sliceOf(window, LIST_COUNT_DEFAULT));
  return { ...page, ...owner, photos: items };
}

function fullChart(call: Call, chart: string, title: string, window: Window): SubjectPage {
  const { items, ...page } = call.db.list('charts', { chart }, sliceOf(window, FILM_COUNT_DEFAULT));
  return { title, ...page, subjects: items.map((row) => fullSubject(call, subjectOf(call, row))) };
}

const existing = ({ db }: Call, id: string): Stored<'subjects'> => found(db.find('subjects', { id }), 5000);

const existingCelebrity = ({ db }: Call, id: string): Stored<'celebrities'> =>
  found(db.find('celebrities', { id }), 5000);
