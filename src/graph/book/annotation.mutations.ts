import { ANNOTATION_MORE_THAN, CHAPTER_MAX, PAGE_BELOW, bookEndpoints } from '../../api/book.ts';
import { type Context, type InputBuilder, builder } from '../engine/builder.ts';
import { pictureParts, pictureViolations } from '../types/picture-upload.ts';
import { maxLength, inRange, invalidIf, longerThan } from '../errors/violations.ts';
import type { ErrorCodes } from '../engine/mutation.ts';
import { deletion, recordPayload } from '../types/write.ts';
import { Annotation } from './annotation.ts';

const PictureInput = builder.inputType('PictureInput', {
  description: 'A picture of an annotation.',
  fields: (t) => ({
    number: t.int({
      required: true,
      description:
        'From 1 to 999999, and never used in this annotation before; `<图片n>` in the content shows picture n.',
    }),
    file: t.field({ type: 'Upload', required: true, description: 'JPEG, PNG, GIF or WebP, under 3,000,000 bytes.' }),
  }),
});

const CreateAnnotationInput = builder.inputType('CreateAnnotationInput', {
  description: 'The annotation to create.',
  fields: (t) => ({
    bookId: t.id({ required: true, description: 'Global or bare id of the book.' }),
    ...annotationFields(t),
    private: t.boolean({ defaultValue: false, description: 'Whether only the caller may read it.' }),
  }),
});
const UpdateAnnotationInput = builder.inputType('UpdateAnnotationInput', {
  description:
    'The new values of an annotation. REPLACES all of it: a page or chapter left out is cleared. Existing pictures remain, even if the content no longer shows them.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the annotation.' }),
    ...annotationFields(t),
    private: t.boolean({ required: true, description: 'Whether only the caller may read it.' }),
  }),
});

function annotationFields(t: InputBuilder) {
  return {
    content: t.string({
      required: true,
      description: `The text, more than ${ANNOTATION_MORE_THAN} characters (code points).`,
    }),
    page: t.int({ description: `The page of the book, 1 to ${PAGE_BELOW - 1}; not together with \`chapter\`.` }),
    chapter: t.string({
      description: `The chapter of the book, at most ${CHAPTER_MAX} characters (code points); not together with \`page\`.`,
    }),
    pictures: t.field({ type: [PictureInput], description: 'Pictures to add, uploaded in a multipart request.' }),
  };
}

builder.mutationFields((t) => ({
  createAnnotation: t.write({
    endpoint: bookEndpoints.annotate,
    payload: recordPayload('CreateAnnotationPayload', 'The new annotation.', 'annotation', Annotation),
    input: CreateAnnotationInput,
    target: ['bookId', 'Book'],
    description: 'Creates an annotation of a book. `POST /v2/book/{id}/annotations`',
    check: annotationBroken,
    run: async ({ write, id }, input) => ({
      annotation: await write(bookEndpoints.annotate, { id, ...draftOf(input) }, partsOf(input)),
    }),
    invalidates: () => annotationLists,
    pictures: picturesIn,
  }),
  updateAnnotation: t.write({
    endpoint: bookEndpoints.updateAnnotation,
    payload: recordPayload('UpdateAnnotationPayload', 'The updated annotation.', 'annotation', Annotation),
    input: UpdateAnnotationInput,
    target: ['id', 'Annotation'],
    description: 'REPLACES an annotation of the caller. `PUT /v2/book/annotation/{id}`',
    check: annotationBroken,
    run: async ({ write, id }, input) => ({
      annotation: await write(bookEndpoints.updateAnnotation, { id, ...draftOf(input) }, partsOf(input)),
    }),
    invalidates: annotationPlaces,
    // Every other cause of code 999 is rejected before the call.
    errorCodes: (input) => ({
      ...annotationAbsent,
      ...(picturesIn(input).length ? { 999: 'PICTURE_NUMBER_USED' } : {}),
    }),
    pictures: picturesIn,
  }),
  deleteAnnotation: t.write(
    deletion(
      'Annotation',
      bookEndpoints.deleteAnnotation,
      'Deletes an annotation of the caller. `DELETE /v2/book/annotation/{id}`',
      { invalidates: annotationPlaces, errorCodes: annotationAbsent },
    ),
  ),
}));

/** Code 1001 also means "missing scope", but for callers who may write it nearly always means "not found". */
const annotationAbsent: ErrorCodes = { 1001: 'ANNOTATION_NOT_FOUND' };

type AnnotationInput = Omit<typeof CreateAnnotationInput.$inferInput, 'bookId'>;

function annotationBroken(input: AnnotationInput, { maxPictures }: Context) {
  const { content, page, chapter } = input;
  return [
    longerThan('content', content, ANNOTATION_MORE_THAN, 'ANNOTATION_TOO_SHORT'),
    inRange('page', page, [1, PAGE_BELOW - 1], 'INVALID_PAGE_NUMBER'),
    maxLength('chapter', chapter, CHAPTER_MAX, 'CHAPTER_TOO_LONG'),
    invalidIf(page != null && Boolean(chapter), 'chapter', 'PAGE_OR_CHAPTER'),
    ...pictureViolations(picturesIn(input), maxPictures),
  ];
}

const draftOf = ({ content, page, chapter, private: isPrivate }: AnnotationInput) => ({
  content,
  page: page ?? undefined,
  chapter: chapter || undefined,
  privacy: isPrivate ? 'private' : 'public',
});

const picturesIn = ({ pictures }: AnnotationInput) => pictures ?? [];

/** The name of a picture part is its number. */
const partsOf = (input: AnnotationInput) =>
  picturesIn(input).length ? pictureParts(picturesIn(input), (number) => String(number)) : undefined;

/** All annotation lists, because a person has an id and a uid, and the input of a deletion does not contain the book. */
const annotationLists = [bookEndpoints.annotations.path, bookEndpoints.userAnnotations.path];

const annotationPlaces = (id: string): string[] => [
  `Annotation:${id}`,
  `/v2/book/annotation/${id}`,
  ...annotationLists,
];
