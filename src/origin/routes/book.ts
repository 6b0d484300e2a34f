import { bookEndpoints as row } from '../../api/book.ts';
import { personOf } from '../access.ts';
import { type Route, serve } from '../exchange.ts';
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
import type { Stores } from '../store/stores.ts';

// Keep the columns aligned.
// prettier-ignore
export const bookRoutes = (stores: Stores): Route[] => [
  serve(row.byId, ({ id }, { person }) => bookById(stores, person, id)),
  serve(row.byIsbn, ({ isbn }, { person }) => bookByIsbn(stores, person, isbn)),
  serve(row.search, (search, { person }) => searchBooks(stores, person, search)),
  serve(row.tags, ({ id, ...window }) => tagsOfBook(stores, id, window)),
  serve(row.userTags, ({ name, ...window }, { person }) => tagsOfPerson(stores, person, name, window)),
  serve(row.userTagsOld, ({ id, ...window }, { person }) => tagsOfPerson(stores, person, id, window)),
  serve(row.collections, ({ name, ...query }, { person }) => collectionsOf(stores, person, name, query)),
  serve(row.collection, ({ id, user_id }, { person }) => collectionOf(stores, person, id, user_id)),
  serve(row.userAnnotations, ({ name, ...query }, { person }) => annotationsOfPerson(stores, person, name, query)),
  serve(row.annotations, ({ id, ...query }) => annotationsOfBook(stores, id, query)),
  serve(row.annotation, ({ id, format }, { person }) => annotationById(stores, person, id, format)),
  serve(row.seriesBooks, ({ id, ...window }) => booksOfSeries(stores, id, window)),

  serve(row.collect, ({ id, ...draft }, viewer) => collect(stores, personOf(viewer), id, draft)),
  serve(row.updateCollection, ({ id, ...draft }, viewer) => updateCollection(stores, personOf(viewer), id, draft)),
  serve(row.deleteCollection, ({ id }, viewer) => deleteCollection(stores, personOf(viewer), id)),
  serve(row.annotate, ({ id, ...draft }, viewer, pictures) => annotate(stores, personOf(viewer), id, draft, pictures)),
  serve(row.updateAnnotation, ({ id, ...draft }, viewer, pictures) =>
    updateAnnotation(stores, personOf(viewer), id, draft, pictures),
  ),
  serve(row.deleteAnnotation, ({ id }, viewer) => deleteAnnotation(stores, personOf(viewer), id)),

  serve(row.createReview, (draft, viewer) => createReview(stores, personOf(viewer), draft)),
  serve(row.updateReview, ({ id, ...draft }, viewer) => updateReview(stores, personOf(viewer), id, draft)),
  serve(row.deleteReview, ({ id }, viewer) => deleteReview(stores, personOf(viewer), id)),
];
