import { bookEndpoints } from '../../api/book.ts';
import { routesOf } from '../exchange.ts';
import {
  annotate,
  annotationById,
  annotationsOfBook,
  annotationsOfPerson,
  deleteAnnotation,
  updateAnnotation,
} from '../rules/annotation.ts';
import { bookById, bookByIsbn, booksOfSeries, searchBooks, tagsOfBook, tagsOfPerson } from '../rules/book.ts';
import { collect, collectionOf, collectionsOf, deleteCollection, updateCollection } from '../rules/collection.ts';
import { createReview, deleteReview, updateReview } from '../rules/review.ts';

export const bookRoutes = routesOf(bookEndpoints, {
  byId: bookById,
  byIsbn: bookByIsbn,
  search: searchBooks,
  tags: tagsOfBook,
  userTags: tagsOfPerson,
  userTagsOld: (call, { id, ...window }) => tagsOfPerson(call, { ...window, name: id }),
  collections: collectionsOf,
  collection: collectionOf,
  userAnnotations: annotationsOfPerson,
  annotations: annotationsOfBook,
  annotation: annotationById,
  seriesBooks: booksOfSeries,

  collect,
  updateCollection,
  deleteCollection,
  annotate,
  updateAnnotation,
  deleteAnnotation,

  createReview,
  updateReview,
  deleteReview,
});
