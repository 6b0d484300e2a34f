/** What the service always sends of films and the people in them. */
import { tiers } from '../endpoint.ts';
import {
  celebrityMembers,
  simpleCelebrity,
  simplePhoto,
  simpleReview,
  simpleSubject,
  subjectMembers,
} from '../film.ts';
import { type PresenceTable, page, words, without, withoutMembers } from './presence.ts';

const chart = ['title', 'subjects'];
const ranked = ['rank', 'subject'];
const photo =
  words(`id subject_id alt icon image thumb cover created_at desc author album_id album_title album_url next_photo
  prev_photo position comments_count photos_count`);
const opinion = words('id created_at subject_id author rating useful_count');

export const filmPresence = {
  SubjectRecord: simpleSubject.members as readonly string[],
  // The real service and the specification call the page of a film by different names.
  '/v2/movie/subject/:id': {
    ...withoutMembers(subjectMembers, 'service_site', 'douban_site'),
    'douban_site|service_site': tiers,
  },
  '/v2/movie/celebrity/:id': celebrityMembers,
  FilmRating: ['min', 'max', 'average|value', 'stars|value'],
  FilmUserRating: ['min', 'max', 'value'],
  FilmUserRecord: ['id', 'name', 'uid', 'alt', 'avatar'],
  PersonCredit: simpleCelebrity.members as readonly string[],
  WorkRecord: ['roles', 'subject'],
  PhotoRecord: simplePhoto.members as readonly string[],
  '/v2/movie/subject/:id/photos photos[]': photo,
  '/v2/movie/celebrity/:id/photos photos[]': without(photo, 'subject_id'),
  FilmReviewRecord: simpleReview.members as readonly string[],
  '/v2/movie/subject/:id/reviews reviews[]': [
    ...opinion,
    ...words('title alt updated_at summary useless_count comments_count'),
  ],
  FilmCommentRecord: [...opinion, 'content'],
  SubjectPage: [...page, 'subjects'],
  PhotoPage: [...page, 'photos', 'subject|celebrity'],
  FilmReviewPage: [...page, 'reviews', 'subject'],
  FilmCommentPage: [...page, 'comments', 'subject'],
  WorkPage: [...page, 'works', 'celebrity'],
  BoxOffice: [...chart, 'date'],
  Weekly: ['subjects'],
  NewMovies: chart,
  BoxOfficeItem: [...ranked, 'box', 'new'],
  WeeklyItem: [...ranked, 'delta'],
  CelebrityRecord: ['id', 'name'],
} satisfies PresenceTable;

/** The service sends them, and nothing here reads them. */
export const unreadFilmMembers: Readonly<Record<string, readonly string[]>> = {
  SubjectRecord:
    words(`videos popular_comments photos_count has_video share_url tags has_schedule collection trailers has_ticket bloopers
    clips`),
  FilmRating: ['details'],
  PhotoRecord: ['recs_count'],
  FilmReviewRecord: ['share_url', 'content'],
};
