import {
  type FilmCommentRecord,
  type FilmReviewRecord,
  LIST_COUNT_DEFAULT,
  RECORD_REVIEWS,
  filmEndpoints,
  simpleReview,
} from '../../api/film.ts';
import { builder } from '../engine/builder.ts';
import { asRecords, countOrZero, localDateTime, text, textOrNull, urlOrNull } from '../types/decode.ts';
import { identity } from '../types/node.ts';
import { UserRating, userRating } from '../types/rating.ts';
import { authorOf } from './author.ts';
import { Subject, namedSubject } from './subject.ts';

export const FilmReview = builder.objectRef<FilmReviewRecord>('FilmReview').implement({
  description:
    'A review of a film; advance and premium tiers. It has an id, but cannot be read by it alone. ' +
    'The first ten of a record tell title, summary, rating, author and webUrl; anything else is told by the list, for one call.',
  fields: (t) => ({
    ...identity(t, 'FilmReview'),
    title: t.reads('title', text, 'Empty where the service has none.'),
    summary: t.reads('summary', textOrNull, 'How it begins, about 100 characters; the whole is on its page.'),
    rating: t.field({
      type: UserRating,
      nullable: true,
      description: 'What its author gives the film; null when not rated.',
      needs: ['rating'],
      resolve: ({ rating }) => userRating(rating),
    }),
    usefulCount: t.reads('useful_count', countOrZero, 'How many found it useful.'),
    uselessCount: t.reads('useless_count', countOrZero, 'How many found it useless.'),
    commentsCount: t.reads('comments_count', countOrZero, 'How many comments it has.'),
    createdAt: t.reads('created_at', localDateTime, 'When it was written.'),
    updatedAt: t.reads('updated_at', localDateTime, 'When it was last edited.'),
    webUrl: t.reads('alt', urlOrNull, 'Its page.'),
    author: authorOf(t, 'Who wrote it.'),
    subject: namedSubject(t),
  }),
});

const FilmComment = builder.objectRef<FilmCommentRecord>('FilmComment').implement({
  description: 'A short comment on a film; advance and premium tiers. It has an id, but cannot be read by it alone.',
  fields: (t) => ({
    ...identity(t, 'FilmComment'),
    content: t.reads('content', text, 'Plain text, about 140 characters at most.'),
    rating: t.field({
      type: UserRating,
      nullable: true,
      description: 'What its author gives the film; null when not rated.',
      needs: ['rating'],
      resolve: ({ rating }) => userRating(rating),
    }),
    usefulCount: t.reads('useful_count', countOrZero, 'How many found it useful.'),
    createdAt: t.reads('created_at', localDateTime, 'When it was written.'),
    author: authorOf(t, 'Who wrote it.'),
    subject: namedSubject(t),
  }),
});

builder.objectFields(Subject, (t) => ({
  reviews: t.connection({
    type: FilmReview,
    pageSize: LIST_COUNT_DEFAULT,
    description:
      'Its reviews, the most useful first; the first 10 come with the record, more cost one call. ' +
      'Advance and premium tiers. `GET /v2/movie/subject/{id}/reviews`',
    endpoint: filmEndpoints.reviews,
    from: ['id'],
    input: ({ id }) => ({ id }),
    embedded: { member: 'popular_reviews', upTo: RECORD_REVIEWS, representation: simpleReview },
  }),
  popularReviews: t.call({
    type: [FilmReview],
    description:
      'The 10 most useful reviews, `popular_reviews`; what those do not carry costs one call. Advance and premium tiers.',
    endpoint: filmEndpoints.reviews,
    from: ['id'],
    // The same parameters as a page of `reviews`, so that both fields share one request.
    input: ({ id }) => ({ id, start: 0, count: RECORD_REVIEWS }),
    assumedSize: RECORD_REVIEWS,
    embedded: { member: 'popular_reviews', representation: simpleReview },
    resolve: ({ reviews }) => asRecords(reviews).slice(0, RECORD_REVIEWS),
  }),
  comments: t.connection({
    type: FilmComment,
    pageSize: LIST_COUNT_DEFAULT,
    description:
      'Its short comments, the most useful first, for one call. Advance and premium tiers. `GET /v2/movie/subject/{id}/comments`',
    endpoint: filmEndpoints.comments,
    from: ['id'],
    input: ({ id }) => ({ id }),
  }),
}));
