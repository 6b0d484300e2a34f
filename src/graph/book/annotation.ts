import {
  ANNOTATION_MORE_THAN,
  type AnnotationRecord,
  CHAPTER_MAX,
  PAGE_BELOW,
  annotationMembers,
  bookEndpoints,
  bookWithin,
} from '../../api/book.ts';
import { ContentBlock, ContentPhoto, annotationBlocks, contentOf, contentPhotos } from '../types/content-blocks.ts';
import { type Markup, blocksOnce } from '../types/content-once.ts';
import { type Context, type InputBuilder, builder } from '../engine/builder.ts';
import {
  asFlag,
  asText,
  count,
  countOrNull,
  flag,
  localDateTime,
  positiveOrNull,
  textOrNull,
  urlOrNull,
} from '../types/decode.ts';
import { badInput } from '../errors/to-client-error.ts';
import { globalId, sourceIdOf } from '../types/global-id.ts';
import { Node, embedded, handleOf, identity } from '../types/node.ts';
import { type GivenPicture, pictureParts, picturesBroken } from '../types/picture-upload.ts';
import { User, type UserShape, isSite, userEdge } from '../types/user.ts';
import { type Violation, atMost, between, broken, moreThan, readable } from '../errors/violations.ts';
import type { Codes } from '../engine/mutation.ts';
import '../engine/mutation.ts';
import { Book } from './book.ts';

const withMath: Markup = (content, photos) => annotationBlocks(content, photos, true);
const withoutMath: Markup = (content, photos) => annotationBlocks(content, photos, false);

const AnnotationOrder = builder.enumType('AnnotationOrder', {
  description: 'What comes first among the annotations of a book.',
  values: {
    NEWEST: { value: 'collect', description: 'The newest; `collect` upstream.' },
    RANK: { value: 'rank', description: 'The most useful.' },
    PAGE: { value: 'page', description: 'The one on the lowest page.' },
  } as const,
});

const TextFormat = builder.enumType('TextFormat', {
  description: 'How the content of an annotation is written.',
  values: {
    TEXT: { description: 'Plain text; a picture stands as `<图片n>`, n being its number.' },
    HTML: { description: 'HTML as the service writes it, neither cleaned nor made safe here.' },
  } as const,
});

export const Annotation = builder.objectRef<AnnotationRecord>('Annotation').implement({
  description: 'What a reader notes on a page or a chapter of a book. Private ones are told to their author alone.',
  interfaces: [Node],
  record: { ask: bookEndpoints.annotation, input: (id) => ({ id }), members: annotationMembers },
  node: handleOf,
  fields: (t) => ({
    ...identity(t, 'Annotation'),
    chapter: t.reads(
      'chapter',
      textOrNull,
      'The chapter it is on, at most 100 characters; null where a page is given instead.',
    ),
    page: t.reads(
      'page_no',
      positiveOrNull,
      'The page it is on, `page_no` upstream; null where a chapter is given, or neither.',
    ),
    abstract: t.reads('abstract', textOrNull, 'The content cut short, plain text in every format.'),
    content: t.ask({
      type: 'String',
      description: 'The whole text. TEXT is in the record; HTML costs a call, shared by all fields that ask for it.',
      args: { format: t.arg({ type: TextFormat, defaultValue: 'TEXT', description: 'How to write it.' }) },
      ask: bookEndpoints.annotation,
      from: ['id'],
      input: ({ id }, { format }) => ({ id, format: format === 'HTML' ? ('html' as const) : ('text' as const) }),
      hand: {
        name: 'content',
        form: { names: [] },
        when: ({ format }: { format?: string | null }) => format !== 'HTML',
      },
      resolve: contentOf,
    }),
    blocks: t.field({
      type: [ContentBlock],
      nullable: true,
      description: 'The content as a tree: paragraphs, pictures, formulas. Empty where there is no content.',
      needs: ['content', 'photos', 'hasmath'],
      resolve: ({ content, photos, hasmath }, _, context) =>
        blocksOnce(context, asFlag(hasmath) ? withMath : withoutMath, asText(content), photos),
    }),
    photos: t.field({
      type: [ContentPhoto],
      description: 'All its pictures by number, also those that the content no longer shows.',
      needs: ['photos'],
      resolve: ({ photos }) => contentPhotos(photos),
    }),
    abstractPhotoUrl: t.reads(
      'abstract_photo',
      urlOrNull,
      'The picture shown with the abstract; null where there is none.',
    ),
    hasMath: t.reads('hasmath', flag, 'Whether the content holds formulas.'),
    commentsCount: t.reads('comments_count', count, 'How many comments it has.'),
    lastPhotoNumber: t.reads(
      'last_photo',
      positiveOrNull,
      'The highest picture number used so far: a new picture takes the next. Null where there was none.',
    ),
    time: t.reads(
      'time',
      localDateTime,
      'The service does not say whether this is when it was written or last edited.',
    ),
    privacyLevel: t.reads(
      'privacy',
      countOrNull,
      '`privacy` upstream: 2 is public, 0 private; other numbers are not specified.',
    ),
    book: t.field({
      type: Book,
      nullable: true,
      description: 'The book it is on.',
      needs: ['book'],
      idIn: 'book_id',
      form: bookWithin,
      resolve: ({ book, book_id }) => embedded(book, book_id),
    }),
    author: t.field({
      type: User,
      nullable: true,
      description: 'Who wrote it.',
      needs: ['author_user'],
      idIn: 'author_id',
      resolve: ({ author_user, author_id }) => embedded<UserShape>(author_user, author_id),
    }),
  }),
});

builder.objectField(Book, 'annotations', (t) =>
  t.pages({
    of: Annotation,
    first: 20,
    description: 'The public annotations on the book, from `GET /v2/book/{id}/annotations`.',
    args: {
      order: t.arg({ type: AnnotationOrder, defaultValue: 'rank', description: 'What comes first.' }),
      page: t.arg.int({ description: `Only those on this page of the book, 1 to ${PAGE_BELOW - 1}.` }),
    },
    ask: bookEndpoints.annotations,
    from: ['id'],
    input: ({ id }, { order, page }) => {
      if (page != null && (page < 1 || page >= PAGE_BELOW)) {
        throw badInput(`\`page\` must be from 1 to ${PAGE_BELOW - 1}.`, { argument: 'page', limit: PAGE_BELOW - 1 });
      }
      return { id, order: order ?? undefined, page: page ?? undefined };
    },
  }),
);

builder.objectField(User, 'annotations', (t) =>
  t.pages({
    of: Annotation,
    first: 20,
    description: 'What this person noted on books, last edited first, from `GET /v2/book/user/{name}/annotations`.',
    ask: bookEndpoints.userAnnotations,
    from: userEdge,
    input: ({ id }) => ({ name: id }),
    none: isSite,
  }),
);

builder.queryField('annotation', (t) =>
  t.ask({
    type: Annotation,
    description: 'An annotation by id, from `GET /v2/book/annotation/{id}`; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Global or bare id.' }) },
    ask: bookEndpoints.annotation,
    input: (_, { id }) => ({ id: sourceIdOf('Annotation', id) }),
    resolve: (annotation) => annotation,
  }),
);

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
      ...readable('bookId', () => sourceIdOf('Book', input.bookId)),
      ...annotationBroken(input, context),
    ],
    run: async (write, input) => {
      const id = sourceIdOf('Book', input.bookId);
      return { annotation: await write(bookEndpoints.annotate, { id, ...draftOf(input) }, partsOf(input)) };
    },
    clears: () => annotationLists,
    pictures: picturesIn,
  }),
  updateAnnotation: t.write({
    endpoint: bookEndpoints.updateAnnotation,
    payload: UpdateAnnotationPayload,
    input: UpdateAnnotationInput,
    description: 'REPLACES an annotation of the caller. `PUT /v2/book/annotation/{id}`',
    check: (input, context) => [
      ...readable('id', () => sourceIdOf('Annotation', input.id)),
      ...annotationBroken(input, context),
    ],
    run: async (write, input) => {
      const id = sourceIdOf('Annotation', input.id);
      return { annotation: await write(bookEndpoints.updateAnnotation, { id, ...draftOf(input) }, partsOf(input)) };
    },
    clears: ({ id }) => annotationPlaces(sourceIdOf('Annotation', id)),
    // Everything else that draws it is refused before the call.
    codes: (input) => ({ ...annotationAbsent, ...(picturesIn(input).length ? { 999: 'PICTURE_NUMBER_USED' } : {}) }),
    pictures: picturesIn,
  }),
  deleteAnnotation: t.write({
    endpoint: bookEndpoints.deleteAnnotation,
    payload: DeleteAnnotationPayload,
    input: DeleteAnnotationInput,
    description: 'Deletes an annotation of the caller. `DELETE /v2/book/annotation/{id}`',
    check: ({ id }) => readable('id', () => sourceIdOf('Annotation', id)),
    run: async (write, input) => {
      const id = sourceIdOf('Annotation', input.id);
      await write(bookEndpoints.deleteAnnotation, { id });
      return { deletedId: globalId('Annotation', id) };
    },
    clears: ({ id }) => annotationPlaces(sourceIdOf('Annotation', id)),
    codes: annotationAbsent,
  }),
}));

/** A missing scope draws the same; but who may write at all meets this one every day. */
const annotationAbsent: Codes = { 1001: 'ANNOTATION_NOT_FOUND' };

interface AnnotationInput {
  content: string;
  page?: number | null | undefined;
  chapter?: string | null | undefined;
  private?: boolean | null | undefined;
  pictures?: GivenPicture[] | null | undefined;
}

function annotationBroken(input: AnnotationInput, { maxPictures }: Context): Violation[] {
  const { content, page, chapter } = input;
  return [
    ...moreThan('content', content, ANNOTATION_MORE_THAN, 'ANNOTATION_TOO_SHORT'),
    ...between('page', page, [1, PAGE_BELOW - 1], 'INVALID_PAGE_NUMBER'),
    ...atMost('chapter', chapter, CHAPTER_MAX, 'CHAPTER_TOO_LONG'),
    ...broken(page != null && Boolean(chapter), { path: ['input', 'chapter'], code: 'PAGE_OR_CHAPTER' }),
    ...picturesBroken(picturesIn(input), maxPictures),
  ];
}

const draftOf = ({ content, page, chapter, private: isPrivate }: AnnotationInput) => ({
  content,
  page: page ?? undefined,
  chapter: chapter || undefined,
  privacy: isPrivate ? 'private' : 'public',
});

const picturesIn = ({ pictures }: { pictures?: GivenPicture[] | null | undefined }): GivenPicture[] => pictures ?? [];

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
