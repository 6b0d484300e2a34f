import { type ReviewRecord, bookWithin } from '../../api/book.ts';
import { builder } from '../engine/builder.ts';
import { count, localDateTime, text, textOrNull, urlOrNull } from '../types/decode.ts';
import { recordOrReference, identity } from '../types/node.ts';
import { UserRating, userRating } from '../types/rating.ts';
import { User, type UserShape } from '../types/user.ts';
import { Book } from './book.ts';

export const Review = builder.objectRef<ReviewRecord>('Review').implement({
  description:
    'A review of a book. The service answers with one when it is written or changed, and has no way to read it again.',
  fields: (t) => ({
    ...identity(t, 'Review'),
    title: t.reads('title', text, 'Its headline.'),
    content: t.reads('content', textOrNull, "The whole text; the service tells it of the caller's own reviews."),
    summary: t.reads('summary', textOrNull, 'The text cut short; null where `content` is told in its place.'),
    rating: t.field({
      type: UserRating,
      nullable: true,
      description: 'What its author gave the book; null when unrated.',
      needs: ['rating'],
      resolve: ({ rating }) => userRating(rating),
    }),
    votes: t.reads('votes', count, 'How many readers found it useful.'),
    useless: t.reads('useless', count, 'How many readers found it useless.'),
    commentsCount: t.reads('comments', count, 'How many comments it has.'),
    publishedAt: t.reads('published', localDateTime, 'When it was first published.'),
    updatedAt: t.reads('updated', localDateTime, 'When it was last changed.'),
    webUrl: t.reads('alt', urlOrNull, 'Its page.'),
    author: t.field({
      type: User,
      nullable: true,
      description: 'Who wrote it.',
      needs: ['author'],
      resolve: ({ author }) => recordOrReference<UserShape>(author),
    }),
    book: t.field({
      type: Book,
      nullable: true,
      description: 'The book reviewed.',
      needs: ['book'],
      representation: bookWithin,
      resolve: ({ book }) => recordOrReference(book),
    }),
  }),
});
