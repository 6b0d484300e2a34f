/** What the service always sends of each record, and what it sends that nothing here reads. The types of `src/api` tell neither. */
import type { Tier } from '../api/endpoint.ts';
import { tiers } from '../api/endpoint.ts';
import {
  celebrityMembers,
  simpleCelebrity,
  simplePhoto,
  simpleReview,
  simpleSubject,
  subjectMembers,
} from '../api/film.ts';
import { viewerCollection } from '../api/book.ts';

/** Names, or names with the film tiers that get them. One of several names is written `a|b`. */
export type Presence = readonly string[] | Readonly<Record<string, readonly Tier[]>>;

const book =
  words(`id isbn10 isbn13 title origin_title alt_title subtitle url alt image images author translator publisher
  pubdate rating tags binding price pages author_intro summary catalog`);
const page = ['start', 'count', 'total'];
const chart = ['title', 'subjects'];
const ranked = ['rank', 'subject'];
const annotation =
  words(`id book_id author_id author_user chapter|page_no privacy abstract content photos last_photo comments_count
  hasmath time`);
const photo =
  words(`id subject_id alt icon image thumb cover created_at desc author album_id album_title album_url next_photo
  prev_photo position comments_count photos_count`);
const opinion = words('id created_at subject_id author rating useful_count');
const feed = words('title links startIndex itemsPerPage totalResults entries');

/**
 * By type: what all of its records have, where that differs from the members that are required by the type. A row with an endpoint and a
 * place in its response takes precedence.
 */
export const alwaysSent: Readonly<Record<string, Presence>> = {
  BookRecord: book,
  // Answers of the first years have neither ratings nor contents.
  '/v2/book/search books[]': without(book, 'rating', 'catalog'),
  BookRating: ['max', 'min', 'numRaters', 'average'],
  GivenRating: ['max', 'min', 'value'],
  BookTag: ['count', 'name'],
  TagRecord: ['count', 'title'],
  'BookRecord.series': ['id', 'title'],
  ImageSet: ['small', 'medium', 'large'],
  CollectionRecord: without(viewerCollection.members as readonly string[], 'rating'),
  '/v2/book/user/:name/collections collections[]': words('id book_id book status updated user_id'),
  '/v2/book/:id/collection': words('id book_id book status updated user_id'),
  AnnotationRecord: annotation,
  UserRecord: ['id', 'uid', 'name', 'alt', 'avatar'],
  BookPage: [...page, 'books'],
  TagPage: [...page, 'tags'],
  CollectionPage: [...page, 'collections'],
  AnnotationPage: [...page, 'annotations'],

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

  NoteRecord: words(
    'id alt title summary|content privacy can_reply publish_time update_time photos liked_count recs_count comments_count|comment_count',
  ),
  NoteCommentRecord: ['id', 'content', 'created', 'author'],
  NotePage: [...page, 'notes'],
  NoteCommentPage: [...page, 'comments'],

  EventRecord: words(
    'id title links term scheme summary content invite_only can_invite participants wishers location startTime endTime where',
  ),
  AtomPerson: ['name', 'links'],
  AtomLocation: ['id', 'name'],
  EventFeed: feed,
  PersonFeed: feed,
  // Not specified for this feed.
  '/people/:id/events/initiate': without(feed, 'totalResults'),
};

/** The service sends them, and nothing here reads them. */
export const unreadMembers: Readonly<Record<string, readonly string[]>> = {
  SubjectRecord:
    words(`videos popular_comments photos_count has_video share_url tags has_schedule collection trailers has_ticket bloopers
    clips`),
  FilmRating: ['details'],
  PhotoRecord: ['recs_count'],
  FilmReviewRecord: ['share_url', 'content'],
};

/** What an Atom text must look like. */
export const textForms: Readonly<Record<string, RegExp>> = {
  // A title that is absent is read as an empty one.
  'EventRecord.title': /\S/,
  'EventRecord.participants': /^\d+$/,
  'EventRecord.wishers': /^\d+$/,
  'EventRecord.invite_only': /^(?:yes|no)$/,
  'EventRecord.can_invite': /^(?:yes|no)$/,
  'EventRecord.startTime': /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/,
  'EventRecord.endTime': /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/,
  'EventRecord.point': /^-?[\d.]+ -?[\d.]+$/,
};

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function without(names: readonly string[], ...left: string[]): string[] {
  return names.filter((name) => !left.includes(name));
}

function withoutMembers<T>(members: Readonly<Record<string, T>>, ...left: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !left.includes(name)));
}
