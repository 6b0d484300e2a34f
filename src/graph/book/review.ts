import { type ReviewRecord, bookWithin } from '../../api/book.ts';
import { builder } from '../../engine/builder.ts';
import { countOrZero, localDateTime, text, textOrNull, urlOrNull } from '../../engine/values/decode.ts';
import { identity } from '../../engine/fields/node.ts';
import { ratingBy } from '../types/rating.ts';
import { WebPage } from '../types/web-page.ts';
import { UID, User, author, authorUid } from '../types/user.ts';
import { Book } from './book.ts';

export const Review = builder.objectRef<ReviewRecord>('Review').implement({
  description: 'A review of a book. The service returns it when it is created or updated; no operation reads it later.',
  interfaces: [WebPage],
  fields: (t) => ({
    ...identity(t, 'Review'),
    title: t.reads('title', text, 'The title.'),
    content: t.reads('content', textOrNull, "The whole text; the service returns it for the caller's own reviews."),
    summary: t.reads('summary', textOrNull, 'The beginning of the text.', {
      nullIf: 'the service returns `content` instead',
    }),
    rating: t.reads('rating', ratingBy, 'The rating by the author.'),
    usefulCount: t.reads('votes', countOrZero, 'The number of readers who found it useful.'),
    uselessCount: t.reads('useless', countOrZero, 'The number of readers who found it useless.'),
    commentsCount: t.reads('comments', countOrZero, 'The number of comments.'),
    createdAt: t.reads('published', localDateTime, 'The time of publication.'),
    updatedAt: t.reads('updated', localDateTime, 'The time of the last change.'),
    webUrl: t.reads('alt', urlOrNull, 'The web page of the review.'),
    author: t.record(User, { member: 'author' }, 'The author of the review.', author),
    authorUid: t.reads('author', authorUid, UID),
    book: t.record(Book, { member: 'book' }, 'The reviewed book.', { representation: bookWithin }),
  }),
});
