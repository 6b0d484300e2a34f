import {
  ANNOTATION_MORE_THAN,
  type AnnotationDraft,
  type AnnotationFormat,
  type AnnotationRecord,
  CHAPTER_MAX,
  PAGE_BELOW,
  PRIVACY_PUBLIC,
  annotationFormats,
  annotationOrders,
  type bookEndpoints,
} from '../../api/book.ts';
import { hasMoreThan } from '../../lib/characters.ts';
import type { AnnotationContent, StoredAnnotation } from '../store/annotation.ts';
import { userRecord } from '../store/people.ts';
import type { ReceivedPicture } from '../store/pictures.ts';
import { abstractOf, annotationHtml, hasMath, pictureNumbersIn } from './annotation-text.ts';
import { type Call, type Rules, personOf, sliceOf } from './call.ts';
import { numericId } from './numeric-id.ts';
import { isPrivate } from './opinion.ts';
import { personNamed } from './person.ts';
import { checkPictures } from './picture.ts';
import { Rejection, found } from './rejection.ts';

/** The privacy of an annotation that only its author may see. Not specified: the number. */
const PRIVATE = 0;

export const annotationRules = {
  /** Only public annotations, even for their authors. */
  annotations(call, { id, ...query }) {
    const { order = 'rank', page: pageNo } = query;
    if (!call.books.has(id)) throw new Rejection(6000);
    if (!annotationOrders.includes(order)) throw new Rejection(999);
    if (pageNo !== undefined && !isPage(pageNo)) throw new Rejection(6012);
    const { items, ...page } = call.annotations.ofBook(id, order, pageNo, sliceOf(query));
    return { ...page, annotations: toRecords(call, items, query.format) };
  },

  /** Newest first. Not specified: whether authors see their own private annotations here; they do. */
  userAnnotations(call, { name, ...query }) {
    const person = personNamed(call, name);
    const { items, ...page } = call.annotations.ofPerson(person.id, person.id === call.reader, sliceOf(query));
    return { ...page, annotations: toRecords(call, items, query.format) };
  },

  annotation: (call, { id, format }) => toRecord(call, id, format),

  annotate(call, { id, ...draft }) {
    if (!call.books.has(id)) throw new Rejection(6000);
    const content = checked(draft);
    const pictures = numberedPictures(call);
    const added = call.annotations.add(personOf(call), id, content);
    keep(call, added, pictures);
    return toRecord(call, String(added));
  },

  /** Clears what the draft leaves out. Pictures remain, even if the content does not show them. */
  updateAnnotation(call, { id, ...draft }) {
    const annotation = ownAnnotation(call, id);
    const content = checked(draft);
    const pictures = numberedPictures(call);
    call.annotations.replace(annotation.id, content);
    keep(call, annotation.id, pictures);
    return toRecord(call, id);
  },

  deleteAnnotation(call, { id }) {
    const annotation = ownAnnotation(call, id);
    call.annotations.remove(annotation.id);
    call.unused.push(...annotation.photos.values());
  },
} satisfies Partial<Rules<typeof bookEndpoints>>;

/** Not specified: the response for an unknown or private annotation; the same as for a missing collection. */
function visibleAnnotation({ annotations, reader }: Call, id: string): StoredAnnotation {
  const annotation = found(annotations.find(numericId(id)), 1001);
  if (annotation.private && annotation.person_id !== reader) throw new Rejection(1001);
  return annotation;
}

function ownAnnotation(call: Call, id: string): StoredAnnotation {
  const annotation = visibleAnnotation(call, id);
  if (annotation.person_id !== call.reader) throw new Rejection(6002);
  return annotation;
}

function checked({ content, page, chapter = '', privacy }: AnnotationDraft): AnnotationContent {
  if (content === undefined) throw new Rejection(1002);
  if (!hasMoreThan(content, ANNOTATION_MORE_THAN)) throw new Rejection(1005);
  if (page !== undefined && chapter !== '') throw new Rejection(999);
  if (page !== undefined && !isPage(page)) throw new Rejection(6012);
  if (hasMoreThan(chapter, CHAPTER_MAX)) throw new Rejection(6013);
  return { content, chapter, page_no: page ?? null, private: isPrivate(privacy) ? 1 : 0 };
}

const isPage = (page: number) => Number.isInteger(page) && page > 0 && page < PAGE_BELOW;

/** The name of a picture part is its number; `pic1` means 1. */
function numberedPictures({ received }: Call): Map<number, ReceivedPicture> {
  const numbered = new Map<number, ReceivedPicture>();
  for (const picture of received) {
    const number = Number(/^(?:pic)?([1-9]\d{0,5})$/.exec(picture.name)?.[1] ?? Number.NaN);
    if (Number.isNaN(number) || numbered.has(number)) throw new Rejection(999);
    numbered.set(number, picture);
  }
  checkPictures(received);
  return numbered;
}

function keep({ annotations, pictures }: Call, id: number, numbered: ReadonlyMap<number, ReceivedPicture>) {
  for (const [number, picture] of numbered) {
    if (!annotations.addPhoto(id, number, picture.file)) throw new Rejection(999);
  }
  pictures.keep([...numbered.values()]);
}

const toRecord = (call: Call, id: string, format?: AnnotationFormat) =>
  toRecords(call, [visibleAnnotation(call, id)], format)[0]!;

function toRecords(
  call: Call,
  annotations: readonly StoredAnnotation[],
  format: AnnotationFormat = 'text',
): AnnotationRecord[] {
  if (!annotationFormats.includes(format)) throw new Rejection(999);
  const books = call.books.byIds(annotations.map((annotation) => annotation.book_id));
  const people = call.people.byIds(annotations.map((annotation) => annotation.person_id));
  return annotations.map((annotation) => {
    const { id, book_id, person_id, chapter, page_no, content } = annotation;
    const photos = new Map([...annotation.photos].map(([number, picture]) => [number, call.pictures.urlOf(picture)]));
    const first = pictureNumbersIn(content).find((number) => photos.has(number));
    const book = books.get(book_id);
    const author = people.get(person_id);
    const abstract = abstractOf(content);
    return {
      id: String(id),
      book_id,
      ...(book && { book }),
      author_id: person_id,
      ...(author && { author_user: userRecord(author) }),
      chapter,
      ...(page_no !== null && { page_no }),
      privacy: annotation.private ? PRIVATE : PRIVACY_PUBLIC,
      abstract,
      summary: abstract,
      content: format === 'html' ? annotationHtml(content, photos) : content,
      abstract_photo: (first !== undefined && photos.get(first)) || '',
      photos: Object.fromEntries(photos),
      last_photo: Math.max(0, ...photos.keys()),
      comments_count: annotation.comments_count,
      hasmath: hasMath(content),
      time: annotation.time,
    };
  });
}
