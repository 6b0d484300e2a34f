import { ANNOTATION_MORE_THAN, CHAPTER_MAX, PAGE_BELOW, PICTURE_BELOW, bookEndpoints } from '../../api/book.ts';
import { type InputBuilder, builder } from '../../engine/builder.ts';
import { changeMutations } from '../../engine/fields/change.ts';
import { type ErrorCodes, type ValuesOf, mutation } from '../../engine/fields/mutation.ts';
import {
  type Violation,
  inRange,
  invalidIf,
  longerThan,
  maxLength,
  requireValid,
  validId,
} from '../../engine/errors/violations.ts';
import { type PictureForm, pictureFields } from '../../engine/fields/picture-upload.ts';
import { changedField, deletionPayload, recordPayload } from '../../engine/fields/mutation-payloads.ts';
import { asText } from '../../engine/values/decode.ts';
import { sourceIdOf } from '../../engine/values/global-id.ts';
import { formerOwner } from '../caller.ts';
import { Annotation } from './annotation.ts';
import { annotationPatch } from './annotation.patch.ts';
import { Book } from './book.ts';

const pictureForm: PictureForm = { bytesBelow: PICTURE_BELOW, nameOf: String };

const AnnotationPictureInput = builder.inputType('AnnotationPictureInput', {
  description: 'A picture of an annotation.',
  fields: (t) => pictureFields(t, pictureForm, 'annotation', '<图片n>'),
});

const annotationFields = (t: InputBuilder, isWhole: true) => ({
  content: t.string({
    required: isWhole,
    description: `The text, more than ${ANNOTATION_MORE_THAN} characters (code points).`,
  }),
  page: t.int({ description: `The page of the book, 1 to ${PAGE_BELOW - 1}; not together with \`chapter\`.` }),
  chapter: t.string({
    description: `The chapter of the book, at most ${CHAPTER_MAX} characters (code points); not together with \`page\`.`,
  }),
  pictures: t.field({
    type: [AnnotationPictureInput],
    description: 'Pictures to add, uploaded in a multipart request.',
  }),
});

type AnnotationInput = ValuesOf<typeof annotationFields> & { isPrivate?: boolean | null };

const annotationBroken = ({ content, page, chapter }: AnnotationInput) => [
  longerThan('content', content, ANNOTATION_MORE_THAN, 'ANNOTATION_TOO_SHORT'),
  inRange('page', page, [1, PAGE_BELOW - 1], 'INVALID_PAGE_NUMBER'),
  maxLength('chapter', chapter, CHAPTER_MAX, 'CHAPTER_TOO_LONG'),
  invalidIf(page != null && Boolean(chapter), 'chapter', 'PAGE_OR_CHAPTER'),
];

const draftOf = ({ content, page, chapter, isPrivate }: AnnotationInput, id: string) => ({
  id,
  content,
  page: page ?? undefined,
  chapter: chapter || undefined,
  privacy: isPrivate ? 'private' : 'public',
});

/** All annotation lists, because a person has an id and a uid, and the input of a deletion does not contain the book. */
const annotationLists = [bookEndpoints.annotations.path, bookEndpoints.userAnnotations.path];

const namesOfAnnotation = (id: string): string[] => [
  `Annotation:${id}`,
  `/v2/book/annotation/${id}`,
  ...annotationLists,
];

/** Code 1001 also means "missing scope", but for callers who may write it nearly always means "not found". */
const annotationAbsent: ErrorCodes = { 1001: 'ANNOTATION_NOT_FOUND' };

mutation('createAnnotation', {
  description: 'Creates an annotation of a book.',
  endpoint: bookEndpoints.annotate,
  target: ['bookId', 'Book'],
  input: {
    description: 'The annotation to create.',
    fields: (t: InputBuilder) => ({
      ...annotationFields(t, true),
      isPrivate: t.boolean({ defaultValue: false, description: 'Whether only the caller may read it.' }),
    }),
  },
  check: annotationBroken,
  request: draftOf,
  pictures: pictureForm,
  payload: recordPayload('The new annotation.', 'annotation', Annotation),
  invalidates: (_, __, made) =>
    // It may be remembered that the new one is absent.
    made === undefined ? ['Annotation', bookEndpoints.annotation.path, ...annotationLists] : namesOfAnnotation(made),
});
changeMutations('Annotation', {
  what: 'an annotation of the caller',
  cleared: 'a page or chapter left out is cleared. Existing pictures remain, even if the content no longer shows them.',
  endpoint: bookEndpoints.updateAnnotation,
  target: ['id', 'Annotation'],
  fields: (t: InputBuilder, isWhole: true) => ({
    ...annotationFields(t, isWhole),
    isPrivate: t.boolean({ required: isWhole, description: 'Whether only the caller may read it.' }),
  }),
  patch: annotationPatch,
  check: annotationBroken,
  request: draftOf,
  payload: recordPayload('The changed annotation.', 'annotation', Annotation),
  invalidates: namesOfAnnotation,
  errorCodes: annotationAbsent,
  pictures: { ...pictureForm, errorCodes: { 999: 'PICTURE_NUMBER_USED' } },
});
mutation('deleteAnnotation', {
  description: 'Deletes an annotation of the caller.',
  endpoint: bookEndpoints.deleteAnnotation,
  target: ['id', 'Annotation'],
  input: {
    description: 'The annotation to delete.',
    fields: (t: InputBuilder) => ({
      bookId: t.id({
        description:
          'Global or bare id of its book, for `book` of the payload: if the annotation is on another one, nothing is deleted. Costs a call more.',
      }),
    }),
  },
  check: (input) => [validId('bookId', () => bookIn(input) ?? '')],
  reads: (input) => (input && input.bookId == null ? [] : [bookEndpoints.annotation]),
  run: async ({ send, read, id }, input): Promise<string | null> => {
    const book = bookIn(input);
    const shown = book && (await read(bookEndpoints.annotation, { id, format: 'text' }, ['book_id', 'id']));
    if (shown && asText(shown.book_id) !== book) requireValid([OTHER_BOOK]);
    await send();
    return shown ? book : null;
  },
  payload: deletionPayload<string | null>('Annotation', (t) => ({
    book: changedField(
      t,
      Book,
      'The book; null too if the input has no `bookId`. Fields other than the id cost one call.',
      ({ result }) => (result === null ? null : { id: result }),
    ),
    ...formerOwner('author')(t),
  })),
  invalidates: namesOfAnnotation,
  errorCodes: annotationAbsent,
});

const bookIn = ({ bookId }: { bookId?: string | null }): string | null =>
  bookId == null ? null : sourceIdOf('Book', bookId, 'bookId');

const OTHER_BOOK: Violation = {
  path: ['input', 'bookId'],
  code: 'BAD_USER_INPUT',
  message: 'The annotation is on another book.',
};
