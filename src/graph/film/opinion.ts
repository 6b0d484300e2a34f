import {
  type FilmCommentRecord,
  type FilmReviewRecord,
  FILM_COMMENT_MAX,
  LIST_COUNT_DEFAULT,
  RECORD_REVIEWS,
  filmEndpoints,
  simpleReview,
} from '../../api/film.ts';
import { builder } from '../../engine/builder.ts';
import { countOrZero, localDateTime, text, textOrEmpty, textOrNull, urlOrNull } from '../../engine/values/decode.ts';
import { attributionOf } from '../types/attribution.ts';
import { identity } from '../../engine/fields/node.ts';
import { ratingBy } from '../types/rating.ts';
import { WebPage } from '../types/web-page.ts';
import { SIGNATURE, UID, User, author, authorSignature, authorUid } from '../types/user.ts';
import { Subject, besideFilm, namedSubject } from './subject.ts';

export const FilmReview = builder.objectRef<FilmReviewRecord>('FilmReview').implement({
  description:
    'A review of a film; advance and premium tiers. It cannot be requested by its id. ' +
    'The film contains the first ten with `title`, `summary`, `rating`, `author` and `webUrl`; other fields cost one call for the list.',
  interfaces: [WebPage],
  fields: (t) => ({
    ...identity(t, 'FilmReview'),
    title: t.reads('title', text, 'The title; empty if the service has none.'),
    summary: t.reads('summary', textOrNull, 'The first 100 characters or so; the web page has the whole text.'),
    rating: t.reads('rating', ratingBy, 'The rating of the film by the author.'),
    usefulCount: t.reads('useful_count', countOrZero, 'The number of people who found it useful.'),
    uselessCount: t.reads('useless_count', countOrZero, 'The number of people who found it useless.'),
    commentsCount: t.reads('comments_count', countOrZero, 'The number of comments.'),
    createdAt: t.reads('created_at', localDateTime, 'The time of creation.'),
    updatedAt: t.reads('updated_at', localDateTime, 'The time of the last edit.'),
    webUrl: t.reads('alt', urlOrNull, 'The web page of the review.'),
    attribution: attributionOf(t, 'review'),
    author: t.record(User, { member: 'author' }, 'The author.', author),
    authorUid: t.reads('author', authorUid, UID),
    authorSignature: t.reads('author', authorSignature, SIGNATURE),
    subject: namedSubject(t),
  }),
});

const FilmComment = builder.objectRef<FilmCommentRecord>('FilmComment').implement({
  description: 'A short comment on a film; advance and premium tiers. It cannot be requested by its id.',
  fields: (t) => ({
    ...identity(t, 'FilmComment'),
    content: t.reads('content', textOrEmpty, `The plain text, about ${FILM_COMMENT_MAX} characters at most.`),
    rating: t.reads('rating', ratingBy, 'The rating of the film by the author.'),
    usefulCount: t.reads('useful_count', countOrZero, 'The number of people who found it useful.'),
    createdAt: t.reads('created_at', localDateTime, 'The time of creation.'),
    author: t.record(User, { member: 'author' }, 'The author.', author),
    authorUid: t.reads('author', authorUid, UID),
    authorSignature: t.reads('author', authorSignature, SIGNATURE),
    subject: namedSubject(t),
  }),
});

builder.objectFields(Subject, (t) => ({
  reviews: t.connection({
    type: FilmReview,
    pageSize: LIST_COUNT_DEFAULT,
    description:
      'The reviews, as a rule the most useful first; advance and premium tiers. The record contains the first 10; more cost one call.',
    endpoint: filmEndpoints.reviews,
    from: ['id'],
    embedded: { member: 'popular_reviews', upTo: RECORD_REVIEWS, representation: simpleReview },
    ...besideFilm,
  }),
  comments: t.connection({
    type: FilmComment,
    pageSize: LIST_COUNT_DEFAULT,
    description: 'The short comments, as a rule the most useful first; advance and premium tiers. Costs one call.',
    endpoint: filmEndpoints.comments,
    from: ['id'],
    ...besideFilm,
  }),
}));
