import {
  type AnnotationDraft,
  type AnnotationRecord,
  COUNT_MAX,
  type CollectionDraft,
  type CollectionRecord,
  PRIVACY_PUBLIC,
  bookEndpoints,
  statusAliases,
} from '../../../api/book.ts';
import { type Before, type OfId, type WriteRule, absent, deletionRule, done, ruleFor, unknown } from './rule.ts';
import { type ListOf, findNew, readBefore } from './new-items.ts';
import { isOtherText, sameText, storedPictures } from './texts.ts';

const shelf = ({ id }: OfId): string => `collection ${id}`;
const collectionAt = ({ id }: OfId): string => `GET /v2/book/${id}/collection`;
const annotationThing = ({ id }: OfId): string => `annotation ${id}`;
const annotationAt = ({ id }: OfId): string => `GET /v2/book/annotation/${id}`;

/** Its privacy is not shown. */
const sameCollection = (record: CollectionRecord, { status, rating, tags = '', comment }: CollectionDraft): boolean =>
  record.status === (statusAliases[status] ?? status) &&
  Number(record.rating?.value ?? 0) === (rating ?? 0) &&
  sameText([...(record.tags ?? [])].sort().join(' '), [...new Set(tags.split(/\s+/u))].sort().join(' ')) &&
  sameText(record.comment, comment);

const collected: Before = { ids: ['collected'], isWhole: true };
const notCollected: Before = { ids: [], isWhole: true };

/** The service rejects a second one, so only what was there before has to be known. */
const collect: WriteRule<CollectionDraft & OfId> = {
  thing: shelf,
  lookAt: collectionAt,
  creates: true,
  reads: [1, 1],
  doneOn: [6011],
  before: async ({ id }, { read }) => ((await read(bookEndpoints.collection, { id })) ? collected : notCollected),
  async find(input, { read, before }) {
    if (!before) return unknown;
    if (before.ids.length > 0) return absent; // the service rejects it again
    const record = await read(bookEndpoints.collection, { id: input.id });
    if (!record) return absent;
    return sameCollection(record, input) ? done(record, String(record.id)) : unknown;
  },
};

const sameAnnotation = (record: AnnotationRecord, { content, page, chapter, privacy }: AnnotationDraft): boolean =>
  sameText(record.content, content) &&
  (record.page_no ?? 0) === (page ?? 0) &&
  sameText(record.chapter, chapter) &&
  (record.privacy === PRIVACY_PUBLIC) === (privacy !== 'private');

/** The caller's own list, which has private ones too. */
const ownAnnotations: ListOf<AnnotationDraft & OfId, typeof bookEndpoints.userAnnotations> = {
  endpoint: bookEndpoints.userAnnotations,
  page: (_, name) => ({ name, count: COUNT_MAX, format: 'text' }),
  items: ({ annotations }) => annotations,
  size: COUNT_MAX,
  pages: 1,
  isNewestFirst: true,
  matches: (record: AnnotationRecord, input) => record.book_id === input.id && sameAnnotation(record, input),
  isOther: ({ book_id, content }: AnnotationRecord, input) =>
    book_id !== input.id && isOtherText(content, input.content),
};

export const bookWriteRules = [
  ruleFor(bookEndpoints.collect, collect),
  // Its privacy is not shown, so it is sent again rather than compared.
  ruleFor(bookEndpoints.updateCollection, { thing: shelf, lookAt: collectionAt, reads: [0, 0] }),
  ruleFor(
    bookEndpoints.deleteCollection,
    deletionRule(bookEndpoints.collection, { thing: shelf, lookAt: collectionAt, doneOn: [1001] }),
  ),

  ruleFor(bookEndpoints.annotate, {
    thing: () => 'annotations',
    lookAt: ({ id }) => `GET /v2/book/${id}/annotations`,
    creates: true,
    reads: [1, 1],
    before: (input, attempt) => readBefore(ownAnnotations, input, attempt),
    find: (input, attempt) => findNew(ownAnnotations, input, attempt),
  }),
  ruleFor(bookEndpoints.updateAnnotation, {
    thing: annotationThing,
    lookAt: annotationAt,
    reads: [0, 1],
    async find(input, { read, pictures }) {
      const record = await read(bookEndpoints.annotation, { id: input.id, format: 'text' });
      if (!record) return unknown;
      const stored = storedPictures(record.photos, pictures);
      if (stored === 'some') return unknown;
      if (sameAnnotation(record, input)) return stored === 'all' ? done(record) : absent;
      return stored === 'none' || pictures.length === 0 ? absent : unknown;
    },
  }),
  ruleFor(
    bookEndpoints.deleteAnnotation,
    deletionRule(bookEndpoints.annotation, { thing: annotationThing, lookAt: annotationAt, doneOn: [1001] }),
  ),

  // No endpoint reads reviews.
  ruleFor(bookEndpoints.createReview, {
    thing: () => 'reviews',
    lookAt: ({ book }) => `the reviews of book ${book}, on the web page`,
    creates: true,
    isHidden: true,
    reads: [0, 0],
  }),
  ruleFor(bookEndpoints.updateReview, {
    thing: ({ id }) => `review ${id}`,
    lookAt: ({ id }) => `review ${id}, on the web page`,
    reads: [0, 0],
  }),
  ruleFor(bookEndpoints.deleteReview, {
    thing: ({ id }) => `review ${id}`,
    lookAt: ({ id }) => `review ${id}, on the web page`,
    doneOn: [6006],
    reads: [0, 0],
  }),
];
