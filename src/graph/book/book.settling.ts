/** How it is recognised whether a write to a shelf, an annotation or a review was carried out. */
import {
  type AnnotationDraft,
  type AnnotationRecord,
  COUNT_MAX,
  type CollectionDraft,
  type CollectionRecord,
  PRIVACY_PUBLIC,
  bookEndpoints,
  statusAliases,
} from '../../api/book.ts';
import type { ReadRecord, WriteRules } from '../../upstream/write-guard.ts';
import { type ListOf, creationRule } from '../../engine/settle/new-items.ts';
import { type OfId, absent, changeRule, deletionRule, there, unknown } from '../../engine/settle/record-rules.ts';
import { sameText } from '../../engine/settle/texts.ts';
import { declareWrites } from '../../engine/settle/write-rules.ts';

const collectionAt = ({ id }: OfId): string => `GET /v2/book/${id}/collection`;
const annotationAt = ({ id }: OfId): string => `GET /v2/book/annotation/${id}`;

/** Its privacy is not shown. */
const sameCollection = (record: CollectionRecord, { status, rating, tags = '', comment }: CollectionDraft): boolean =>
  record.status === (statusAliases[status] ?? status) &&
  Number(record.rating?.value ?? 0) === (rating ?? 0) &&
  sameText([...(record.tags ?? [])].sort().join(' '), [...new Set(tags.split(/\s+/u))].sort().join(' ')) &&
  sameText(record.comment, comment);

const shownCollection = {
  load: ({ id }: OfId, read: ReadRecord) => read(bookEndpoints.collection, { id }),
  members: ({ id, status, rating, tags, comment, updated }: CollectionRecord) => [
    ...[id, status, rating?.value, comment, updated],
    [...(tags ?? [])].sort(),
  ],
  lookAt: collectionAt,
};

const sameAnnotation = (record: AnnotationRecord, { content, page, chapter, privacy }: AnnotationDraft): boolean =>
  sameText(record.content, content) &&
  Number(record.page_no ?? 0) === (page ?? 0) &&
  sameText(record.chapter, chapter) &&
  (Number(record.privacy) === PRIVACY_PUBLIC) === (privacy !== 'private');

/** The caller's own list, which has private ones too. */
const ownAnnotations: ListOf<AnnotationDraft & OfId, AnnotationRecord> = {
  async load(read, _, name) {
    const page = await read(bookEndpoints.userAnnotations, { name, count: COUNT_MAX, format: 'text' });
    return page && { items: page.annotations, total: page.total };
  },
  size: COUNT_MAX,
  pages: 1,
  order: { timeOf: () => undefined }, // the interface specifies it
  isOurs: (record, draft) => String(record.book_id) === draft.id && sameAnnotation(record, draft),
};

const shownAnnotation = {
  load: ({ id }: OfId, read: ReadRecord) => read(bookEndpoints.annotation, { id, format: 'text' }),
  members: ({ content, page_no, chapter, privacy, photos, time }: AnnotationRecord) => [
    ...[content, page_no, chapter, privacy, time],
    Object.keys(photos ?? {}),
  ],
  lookAt: annotationAt,
};

const reviewAt = ({ id }: OfId): string => `review ${id}, on the web page`;

export const bookWrites = {
  /** The service rejects a second one, so only whether there was one before has to be known. */
  collect: {
    lookAt: collectionAt,
    creates: true,
    reads: [1, 1],
    doneOn: [6011],
    before: async ({ id }, { read }) => ({ ids: (await read(bookEndpoints.collection, { id })) ? ['collected'] : [] }),
    async find(input, { read, before }) {
      if (!before?.ids) return unknown;
      if (before.ids.length > 0) return absent; // the service rejects it again
      const record = await read(bookEndpoints.collection, { id: input.id });
      if (!record) return absent;
      const id = String(record.id);
      return sameCollection(record, input) ? there(record, id) : unknown;
    },
  },
  updateCollection: changeRule<CollectionDraft & OfId, CollectionRecord>({
    ...shownCollection,
    isOurs: sameCollection,
    hidesChanges: true,
  }),
  deleteCollection: deletionRule({ ...shownCollection, doneOn: [1001] }),

  annotate: creationRule(ownAnnotations, { lookAt: ({ id }) => `GET /v2/book/${id}/annotations`, reads: [1, 1] }),
  updateAnnotation: changeRule<AnnotationDraft & OfId, AnnotationRecord>({
    ...shownAnnotation,
    photos: ({ photos }) => photos,
    // The name of each file is its number. Those of a request whose process died are not known.
    numbers: (_, fileNames) => (fileNames?.length === 0 ? undefined : (fileNames ?? [])),
    isOurs: sameAnnotation,
  }),
  deleteAnnotation: deletionRule({ ...shownAnnotation, doneOn: [1001] }),

  // No endpoint reads reviews, so nothing is found of them.
  createReview: {
    lookAt: ({ book }) => `the reviews of book ${book}, on the web page`,
    creates: true,
    reads: [0, 0],
  },
  updateReview: { lookAt: reviewAt, reads: [0, 0] },
  deleteReview: {
    lookAt: reviewAt,
    doneOn: [6006],
    reads: [0, 0],
    isRepeatable: true,
  },
} satisfies WriteRules<typeof bookEndpoints>;
declareWrites(bookEndpoints, bookWrites);
