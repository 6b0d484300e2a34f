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
  description: 'Something to note on a book.',
  fields: (t) => ({
    bookId: t.id({ required: true, description: 'Global or bare id of the book.' }),
    ...annotationFields(t),
    private: t.boolean({ defaultValue: false, description: 'Whether it is for the caller alone.' }),
  }),
});
const UpdateAnnotationInput = builder.inputType('UpdateAnnotationInput', {
  description:
    'An annotation as it shall be. REPLACES the whole of it: a page or chapter left out is cleared. Its pictures stay, shown or not.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the annotation.' }),
    ...annotationFields(t),
    private: t.boolean({ required: true, description: 'Whether it is for the caller alone.' }),
  }),
});
const DeleteAnnotationInput = builder.inputType('DeleteAnnotationInput', {
  description: 'Which annotation to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Global or bare id of the annotation.' }) }),
});

function annotationFields(t: InputBuilder) {
  return {
    content: t.string({
      required: true,
      description: `The text, more than ${ANNOTATION_MORE_THAN} characters (code points).`,
    }),
    page: t.int({ description: `The page it is on, 1 to ${PAGE_BELOW - 1}; not together with a chapter.` }),
    chapter: t.string({
      description: `The chapter it is on, at most ${CHAPTER_MAX} characters (code points); not together with a page.`,
    }),
    pictures: t.field({ type: [PictureInput], description: 'Pictures to add, sent along as a multipart request.' }),
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
        description: 'The annotation, as the service answered.',
        resolve: ({ annotation }) => annotation,
      }),
    }),
  });
const CreateAnnotationPayload = annotationPayload('CreateAnnotationPayload', 'The new annotation.');
const UpdateAnnotationPayload = annotationPayload('UpdateAnnotationPayload', 'The annotation as it is now.');
const DeleteAnnotationPayload = builder.objectRef<{ deletedId: string }>('DeleteAnnotationPayload').implement({
  description: 'What is left of it.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The global id that it had.' }) }),
});

builder.mutationFields((t) => ({
  createAnnotation: t.write({
    endpoint: bookEndpoints.annotate,
    payload: CreateAnnotationPayload,
    input: CreateAnnotationInput,
    description: 'Notes something on a book. `POST /v2/book/{id}/annotations`',
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
    // Everything else that draws it is refused before the call.
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

/** A missing scope draws the same; but who may write at all meets this one every day. */
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

/** A picture part is named by its number alone. */
const partsOf = (input: AnnotationInput) =>
  picturesIn(input).length ? pictureParts(picturesIn(input), (number) => String(number)) : undefined;

/** All annotation lists: a person has two names, and the input of a deletion does not name the book. */
const annotationLists = [bookEndpoints.annotations.path, bookEndpoints.userAnnotations.path];

const annotationPlaces = (id: string): string[] => [
  `Annotation:${id}`,
  `/v2/book/annotation/${id}`,
  ...annotationLists,
];
