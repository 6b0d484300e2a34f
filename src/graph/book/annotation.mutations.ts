import { ANNOTATION_MORE_THAN, type AnnotationRecord, CHAPTER_MAX, PAGE_BELOW, bookEndpoints } from '../../api/book.ts';
import { type Context, type InputBuilder, builder } from '../engine/builder.ts';
import { globalId, sourceIdOf } from '../types/global-id.ts';
import { type PictureInput, pictureParts, pictureViolations } from '../types/picture-upload.ts';
import { type Violation, maxLength, inRange, invalidIf, longerThan, validId } from '../errors/violations.ts';
import type { ErrorCodes } from '../engine/mutation.ts';
import '../engine/mutation.ts';
import { Annotation } from './annotation.ts';

const PictureInput = builder.inputType('PictureInput', {
  description: 'A picture of an annotation.',
  fields: (t) => ({
    number: t.int({
      required: true,
      description: 'From 1; `<图片n>` in the content shows it. Never used on this annotation before.',
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
const DeleteAnnotationInput = builder.inputType('DeleteAnnotationInput', {
  description: 'The annotation to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Global or bare id of the annotation.' }) }),
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

interface AnnotationPayload {
  annotation: AnnotationRecord;
}
const annotationPayload = (name: string, description: string) =>
  builder.objectRef<AnnotationPayload>(name).implement({
    description,
    fields: (t) => ({
      annotation: t.field({
        type: Annotation,
        nullable: true,
        description: 'The annotation in the response of the service.',
        nullIf: false,
        resolve: ({ annotation }) => annotation,
      }),
    }),
  });
const CreateAnnotationPayload = annotationPayload('CreateAnnotationPayload', 'The new annotation.');
const UpdateAnnotationPayload = annotationPayload('UpdateAnnotationPayload', 'The updated annotation.');
const DeleteAnnotationPayload = builder.objectRef<{ deletedId: string }>('DeleteAnnotationPayload').implement({
  description: 'The result of deleting an annotation.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The global id of the deleted annotation.' }) }),
});

builder.mutationFields((t) => ({
  createAnnotation: t.write({
    endpoint: bookEndpoints.annotate,
    payload: CreateAnnotationPayload,
    input: CreateAnnotationInput,
    description: 'Creates an annotation of a book. `POST /v2/book/{id}/annotations`',
    check: (input, context) => [
      ...validId('bookId', () => sourceIdOf('Book', input.bookId)),
      ...annotationBroken(input, context),
    ],
    run: async (write, input) => {
      const id = sourceIdOf('Book', input.bookId);
      return { annotation: await write(bookEndpoints.annotate, { id, ...draftOf(input) }, partsOf(input)) };
    },
    invalidates: () => annotationLists,
    pictures: picturesIn,
  }),
  updateAnnotation: t.write({
    endpoint: bookEndpoints.updateAnnotation,
    payload: UpdateAnnotationPayload,
    input: UpdateAnnotationInput,
    description: 'REPLACES an annotation of the caller. `PUT /v2/book/annotation/{id}`',
    check: (input, context) => [
      ...validId('id', () => sourceIdOf('Annotation', input.id)),
      ...annotationBroken(input, context),
    ],
    run: async (write, input) => {
      const id = sourceIdOf('Annotation', input.id);
      return { annotation: await write(bookEndpoints.updateAnnotation, { id, ...draftOf(input) }, partsOf(input)) };
    },
    invalidates: ({ id }) => annotationPlaces(sourceIdOf('Annotation', id)),
    // Every other cause of code 999 is rejected before the call.
    errorCodes: (input) => ({
      ...annotationAbsent,
      ...(picturesIn(input).length ? { 999: 'PICTURE_NUMBER_USED' } : {}),
    }),
    pictures: picturesIn,
  }),
  deleteAnnotation: t.write({
    endpoint: bookEndpoints.deleteAnnotation,
    payload: DeleteAnnotationPayload,
    input: DeleteAnnotationInput,
    description: 'Deletes an annotation of the caller. `DELETE /v2/book/annotation/{id}`',
    check: ({ id }) => validId('id', () => sourceIdOf('Annotation', id)),
    run: async (write, input) => {
      const id = sourceIdOf('Annotation', input.id);
      await write(bookEndpoints.deleteAnnotation, { id });
      return { deletedId: globalId('Annotation', id) };
    },
    invalidates: ({ id }) => annotationPlaces(sourceIdOf('Annotation', id)),
    errorCodes: annotationAbsent,
  }),
}));

/** Code 1001 also means "missing scope", but for callers who may write it nearly always means "not found". */
const annotationAbsent: ErrorCodes = { 1001: 'ANNOTATION_NOT_FOUND' };

interface AnnotationInput {
  content: string;
  page?: number | null | undefined;
  chapter?: string | null | undefined;
  private?: boolean | null | undefined;
  pictures?: PictureInput[] | null | undefined;
}

function annotationBroken(input: AnnotationInput, { maxPictures }: Context): Violation[] {
  const { content, page, chapter } = input;
  return [
    ...longerThan('content', content, ANNOTATION_MORE_THAN, 'ANNOTATION_TOO_SHORT'),
    ...inRange('page', page, [1, PAGE_BELOW - 1], 'INVALID_PAGE_NUMBER'),
    ...maxLength('chapter', chapter, CHAPTER_MAX, 'CHAPTER_TOO_LONG'),
    ...invalidIf(page != null && Boolean(chapter), { path: ['input', 'chapter'], code: 'PAGE_OR_CHAPTER' }),
    ...pictureViolations(picturesIn(input), maxPictures),
  ];
}

const draftOf = ({ content, page, chapter, private: isPrivate }: AnnotationInput) => ({
  content,
  page: page ?? undefined,
  chapter: chapter || undefined,
  privacy: isPrivate ? 'private' : 'public',
});

const picturesIn = ({ pictures }: { pictures?: PictureInput[] | null | undefined }): PictureInput[] => pictures ?? [];

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
