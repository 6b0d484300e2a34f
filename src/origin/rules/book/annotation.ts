import {
  ANNOTATION_MORE_THAN,
  type AnnotationDraft,
  type AnnotationFormat,
  type AnnotationRecord,
  CHAPTER_MAX,
  PAGE_BELOW,
  PRIVACY_PRIVATE,
  PRIVACY_PUBLIC,
  annotationFormats,
  annotationOrders,
  type bookEndpoints,
} from '../../../api/book.ts';
import { hasMoreThan } from '../../../lib/text/characters.ts';
import { timestamp } from '../../store/clock.ts';
import { type Stored, annotationOrder } from '../../store/database/schema.ts';
import { abstractOf, annotationHtml, hasMath, pictureNumbersIn } from './annotation-text.ts';
import { bookOfRow, existingBook } from './book-record.ts';
import { type Call, type Rules, numericId, owned, personOf, sliceOf } from '../call.ts';
import { privateFlag } from '../opinion.ts';
import { personNamed, personOfRow, userRecord } from '../person.ts';
import { keepPictures, urlsByNumber } from '../picture.ts';
import { Rejection, found } from '../rejection.ts';

export const annotationRules = {
  /** Only public annotations, even for their authors. */
  annotations(call, { id, ...query }) {
    const { order = 'rank', page: page_no } = query;
    const book = existingBook(call, id);
    if (!annotationOrders.includes(order)) throw new Rejection(999);
    if (page_no !== undefined && !isPage(page_no)) throw new Rejection(6012);
    const filter = { book_id: book.id, private: 0, page_no } as const;
    const { items, ...page } = call.db.list('annotations', filter, sliceOf(query), annotationOrder[order]);
    return { ...page, annotations: toRecords(call, items, query.format) };
  },

  /** Newest first. Not specified: whether authors see their own private annotations here; they do. */
  userAnnotations(call, { name, ...query }) {
    const person = personNamed(call, name);
    const filter = { person_id: person.id, private: person.id === call.reader ? undefined : (0 as const) };
    const { items, ...page } = call.db.list('annotations', filter, sliceOf(query));
    return { ...page, annotations: toRecords(call, items, query.format) };
  },

  annotation: (call, { id, format }) => toRecords(call, [visibleAnnotation(call, id)], format)[0]!,

  annotate(call, { id, ...draft }) {
    const book = existingBook(call, id);
    const content = checked(draft);
    const ids = { person_id: personOf(call), book_id: book.id };
    const row = { ...ids, ...content, usefulness: 0, comments_count: 0, time: timestamp() };
    const annotation = call.db.insert('annotations', row);
    keepNumbered(call, annotation);
    return toRecords(call, [annotation])[0]!;
  },

  /** Clears what the draft leaves out. Pictures remain, even if the content does not show them. */
  updateAnnotation(call, { id, ...draft }) {
    const annotation = ownAnnotation(call, id);
    const changes = { ...checked(draft), time: timestamp() };
    call.db.update('annotations', { id: annotation.id }, changes);
    keepNumbered(call, annotation);
    return toRecords(call, [{ ...annotation, ...changes }])[0]!;
  },

  deleteAnnotation(call, { id }) {
    const annotation = ownAnnotation(call, id);
    call.unused.push(...picturesOf(call, annotation).map(({ picture }) => picture));
    call.db.remove('annotations', { id: annotation.id });
  },
} satisfies Partial<Rules<typeof bookEndpoints>>;

/** Not specified: the response for an unknown or private annotation; the same as for a missing collection. */
function visibleAnnotation({ db, reader }: Call, id: string): Stored<'annotations'> {
  const annotation = found(db.find('annotations', { id: numericId(id) }), 1001);
  if (annotation.private && annotation.person_id !== reader) throw new Rejection(1001);
  return annotation;
}

const ownAnnotation = (call: Call, id: string) => owned(call, visibleAnnotation(call, id), 6002);

function checked({ content, page, chapter = '', privacy }: AnnotationDraft) {
  if (content === undefined) throw new Rejection(1002);
  if (!hasMoreThan(content, ANNOTATION_MORE_THAN)) throw new Rejection(1005);
  if (page !== undefined && chapter !== '') throw new Rejection(999);
  if (page !== undefined && !isPage(page)) throw new Rejection(6012);
  if (hasMoreThan(chapter, CHAPTER_MAX)) throw new Rejection(6013);
  return { content, chapter, page_no: page ?? null, private: privateFlag(privacy) };
}

const isPage = (page: number) => Number.isInteger(page) && page > 0 && page < PAGE_BELOW;

/** The name of a picture part is its number; `pic1` means 1. */
function keepNumbered(call: Call, { id }: Stored<'annotations'>) {
  const rows = call.received.map(({ name, file }) => {
    const number = Number(found(/^(?:pic)?([1-9]\d{0,5})$/.exec(name)?.[1], 999));
    return { annotation_id: id, number, picture: file };
  });
  if (new Set(rows.map(({ number }) => number)).size < rows.length) throw new Rejection(999);
  keepPictures(call, 'annotation_photos', rows);
}

const picturesOf = ({ db }: Call, { id }: Stored<'annotations'>) => db.rows('annotation_photos', { annotation_id: id });

function toRecords(call: Call, rows: readonly Stored<'annotations'>[], format: AnnotationFormat = 'text') {
  if (!annotationFormats.includes(format)) throw new Rejection(999);
  return rows.map((row) => toRecord(call, row, format));
}

function toRecord(call: Call, row: Stored<'annotations'>, format: AnnotationFormat): AnnotationRecord {
  const { id, book_id, person_id, chapter, page_no, content } = row;
  const photos = urlsByNumber(call, picturesOf(call, row));
  const first = pictureNumbersIn(content).find((number) => photos.has(number));
  const abstract = abstractOf(content);
  return {
    id: String(id),
    book_id,
    book: bookOfRow(call, row),
    author_id: person_id,
    author_user: userRecord(personOfRow(call, row)),
    chapter,
    ...(page_no !== null && { page_no }),
    privacy: row.private ? PRIVACY_PRIVATE : PRIVACY_PUBLIC,
    abstract,
    summary: abstract,
    content: format === 'html' ? annotationHtml(content, photos) : content,
    abstract_photo: (first !== undefined && photos.get(first)) || '',
    photos: Object.fromEntries(photos),
    last_photo: Math.max(0, ...photos.keys()),
    comments_count: row.comments_count,
    hasmath: hasMath(content),
    time: row.time,
  };
}
