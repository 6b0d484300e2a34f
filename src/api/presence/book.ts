/** What the service always sends of books and what people write about them. */
import { viewerCollection } from '../book.ts';
import { type PresenceTable, page, words, without } from './presence.ts';

const book =
  words(`id isbn10 isbn13 title origin_title alt_title subtitle url alt image images author translator publisher
  pubdate rating tags binding price pages author_intro summary catalog`);
const annotation =
  words(`id book_id author_id author_user chapter|page_no privacy abstract content photos last_photo comments_count
  hasmath time`);

export const bookPresence = {
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
} satisfies PresenceTable;
