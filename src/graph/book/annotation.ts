import {
  type AnnotationPage,
  type AnnotationRecord,
  PAGE_BELOW,
  annotationMembers,
  bookEndpoints,
  bookWithin,
} from '../../api/book.ts';
import { ContentBlock, photosByNumber } from '../types/content-blocks.ts';
import { annotationBlocks } from '../types/content-markup.ts';
import { contentByFormat } from '../types/content-format.ts';
import { ContentInterface } from '../types/content.ts';
import { oncePer } from '../../lib/remember.ts';
import { builder } from '../../engine/builder.ts';
import type { ResolverContext } from '../../engine/context.ts';
import {
  asFlag,
  asRecords,
  asText,
  countOrNull,
  countOrZero,
  flag,
  localDateTime,
  orNull,
  positiveOrNull,
  textOrNull,
  urlOrNull,
} from '../../engine/values/decode.ts';
import { requireRange } from '../../engine/errors/to-client-error.ts';
import type { Provides } from '../../engine/plan/declaration-types.ts';
import { revisionField } from '../../engine/fields/patch.ts';
import { Node, referenceOf, identity, queryById } from '../../engine/fields/node.ts';
import { viewerRights } from '../caller.ts';
import {
  UID,
  User,
  type UserShape,
  author,
  authorUid,
  isSite,
  personMembers,
  providedPerson,
  userEdgeNames,
} from '../types/user.ts';
import { Book } from './book.ts';
import { annotationPatch, authorOfAnnotation, privacyAt } from './annotation.patch.ts';

/** Parses each text of an operation once, however many aliases select it: texts have any length. */
const blocksIn = oncePer((_: ResolverContext) =>
  oncePer(({ content, photos, hasmath }: Pick<AnnotationRecord, 'content' | 'photos' | 'hasmath'>) =>
    annotationBlocks(asText(content), photos, asFlag(hasmath)),
  ),
);

const AnnotationOrder = builder.enumType('AnnotationOrder', {
  description: 'The order of the annotations of a book.',
  values: {
    NEWEST: { value: 'collect', description: 'Newest first. Upstream: `collect`.' },
    RANK: { value: 'rank', description: 'Most useful first.' },
    PAGE: { value: 'page', description: 'Lowest page first.' },
  } as const,
});

const AnnotationFormat = builder.enumType('AnnotationFormat', {
  description: 'The format of the content of an annotation.',
  values: {
    TEXT: { value: 'text', description: 'Plain text; `<图片n>` marks the picture with number n.' },
    HTML: { value: 'html', description: 'HTML of the service, not sanitized.' },
  } as const,
});

export const Annotation = builder.objectRef<AnnotationRecord>('Annotation').implement({
  description: "A reader's note on a page or a chapter of a book. Only the author can read a private annotation.",
  interfaces: [Node, ContentInterface],
  record: { endpoint: bookEndpoints.annotation, input: (id) => ({ id }), members: annotationMembers },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Annotation'),
    chapter: t.reads('chapter', textOrNull, 'The chapter of the book, at most 100 characters.', {
      nullIf: 'the annotation has a page instead, or neither',
    }),
    page: t.reads('page_no', positiveOrNull, 'The page of the book.', {
      nullIf: 'the annotation has a chapter instead, or neither',
    }),
    abstract: t.reads('abstract', textOrNull, 'The beginning of the content, always plain text.'),
    content: t.call({
      type: 'String',
      description:
        'The whole text. TEXT is part of the record. HTML is loaded together with other fields; beside TEXT it costs a call more. For all annotations of a book it is one call.',
      args: { format: t.arg({ type: AnnotationFormat, defaultValue: 'text', description: 'The format of the text.' }) },
      endpoint: bookEndpoints.annotation,
      ...contentByFormat<'html'>(),
    }),
    blocks: t.computed({
      type: [ContentBlock],
      nullable: true,
      nullIf: false,
      description: 'The content as a tree of paragraphs, pictures and formulas. Empty if there is no content.',
      needs: ['content', 'photos', 'hasmath'],
      resolve: (annotation, _, context) => blocksIn(context)(annotation),
    }),
    pictures: t.reads(
      'photos',
      photosByNumber,
      'All pictures in the order of their numbers, including those that the content no longer shows.',
    ),
    abstractPhotoUrl: t.reads('abstract_photo', urlOrNull, 'The picture of the abstract.'),
    hasMath: t.reads('hasmath', flag, 'Whether the content contains formulas.'),
    commentsCount: t.reads('comments_count', countOrZero, 'The number of comments.'),
    lastPhotoNumber: t.reads(
      'last_photo',
      positiveOrNull,
      'The highest picture number used so far; a new picture takes the next one.',
      { nullIf: 'there was no picture' },
    ),
    time: t.reads(
      'time',
      localDateTime,
      'The time of creation or of the last edit; the service does not specify which.',
    ),
    isPrivate: t.reads(
      'privacy',
      orNull('Boolean', (level) => privacyAt(level)?.isPrivate ?? null, 'the service sends another number than 0 or 2'),
      'Whether only the author may read it.',
    ),
    privacyLevel: t.reads(
      'privacy',
      countOrNull,
      'Who may read it, as the service says it: 2 is everybody, 0 the author; other numbers are not specified.',
    ),
    revision: revisionField(t, annotationPatch, ['content', 'page_no', 'chapter', 'privacy']),
    book: t.record(Book, { member: 'book', id: 'book_id' }, 'The annotated book.', { representation: bookWithin }),
    author: t.record(User, { member: 'author_user', id: 'author_id' }, 'The author of the annotation.', author),
    authorUid: t.reads('author_user', authorUid, UID),
    ...viewerRights(t, {
      thing: 'annotation',
      needs: ['author_user', 'author_id'],
      authorOf: authorOfAnnotation,
    }),
  }),
});

builder.objectField(Book, 'annotations', (t) =>
  t.connection({
    type: Annotation,
    description: 'The public annotations on the book.',
    args: {
      order: t.arg({ type: AnnotationOrder, defaultValue: 'rank', description: 'The order of the list.' }),
      page: t.arg.int({ description: `Only annotations on this page of the book, 1 to ${PAGE_BELOW - 1}.` }),
    },
    endpoint: bookEndpoints.annotations,
    newestFirst: { time: 'time', id: 'id', when: ({ order }) => order === 'collect' },
    from: ['id'],
    variants: 'format',
    input: ({ id }, { order, page }) => {
      requireRange('page', page, 1, PAGE_BELOW - 1);
      return { id, order: order ?? undefined, page: page ?? undefined };
    },
  }),
);

/** What a page of a person's annotations tells of the person. */
const authorProvided: Provides<AnnotationPage, UserShape> = {
  members: personMembers,
  carriedBy: 'author_user',
  read: ({ annotations }, asked) => providedPerson(asRecords(annotations)[0]?.author_user, asked),
};

builder.objectField(User, 'annotations', (t) =>
  t.connection({
    type: Annotation,
    description: 'The annotations by this person, last edited first.',
    endpoint: bookEndpoints.userAnnotations,
    newestFirst: { time: 'time', id: 'id' },
    from: userEdgeNames,
    input: ({ id }) => ({ name: id }),
    isEmpty: isSite,
    provides: authorProvided,
  }),
);

builder.objectField(User, 'annotationChanges', (t) =>
  t.changes({
    type: Annotation,
    description:
      'What has changed in the annotations by this person, for a copy of them on a phone: call it until `hasMore` is false. A call reads a hundred: those that changed, or all if one was removed.',
    nullIf: 'the user is an organisation, or unknown',
    endpoint: bookEndpoints.userAnnotations,
    newestFirst: { time: 'time', id: 'id' },
    from: userEdgeNames,
    input: ({ id }) => ({ name: id }),
    isUnavailable: isSite,
    provides: authorProvided,
  }),
);

queryById(Annotation, bookEndpoints.annotation, 'An annotation by id.', '32072061');
