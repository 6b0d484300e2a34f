import { type AnnotationRecord, PAGE_BELOW, annotationMembers, bookEndpoints, bookWithin } from '../../api/book.ts';
import { ContentBlock, ContentPhoto, annotationBlocks, contentOf, contentPhotos } from '../types/content-blocks.ts';
import { type BlockParser, parseBlocksOnce } from '../types/content-cache.ts';
import { builder } from '../engine/builder.ts';
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
import { sourceIdOf } from '../types/global-id.ts';
import { Node, recordOrReference, referenceOf, identity } from '../types/node.ts';
import { User, type UserShape, isSite, userEdgeNames } from '../types/user.ts';
import { Book } from './book.ts';

const withMath: BlockParser = (content, photos) => annotationBlocks(content, photos, true);
const withoutMath: BlockParser = (content, photos) => annotationBlocks(content, photos, false);

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
  record: { endpoint: bookEndpoints.annotation, input: (id) => ({ id }), members: annotationMembers },
  nodeOf: referenceOf,
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
    content: t.call({
      type: 'String',
      description:
        'The whole text. TEXT is in the record; HTML costs a call of `GET /v2/book/annotation/{id}`, in the annotations of a book one for the whole list.',
      args: { format: t.arg({ type: TextFormat, defaultValue: 'TEXT', description: 'How to write it.' }) },
      endpoint: bookEndpoints.annotation,
      from: ['id'],
      input: ({ id }, args) => ({ id, format: formatOf(args) ?? ('text' as const) }),
      embedded: {
        member: 'content',
        representation: { names: [] },
        when: (args: Formatted) => formatOf(args) === undefined,
      },
      variant: { param: 'format', of: formatOf },
      resolve: contentOf,
    }),
    blocks: t.field({
      type: [ContentBlock],
      nullable: true,
      description: 'The content as a tree: paragraphs, pictures, formulas. Empty where there is no content.',
      needs: ['content', 'photos', 'hasmath'],
      resolve: ({ content, photos, hasmath }, _, context) =>
        parseBlocksOnce(context, asFlag(hasmath) ? withMath : withoutMath, asText(content), photos),
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
      representation: bookWithin,
      resolve: ({ book, book_id }) => recordOrReference(book, book_id),
    }),
    author: t.field({
      type: User,
      nullable: true,
      description: 'Who wrote it.',
      needs: ['author_user'],
      idIn: 'author_id',
      resolve: ({ author_user, author_id }) => recordOrReference<UserShape>(author_user, author_id),
    }),
  }),
});

builder.objectField(Book, 'annotations', (t) =>
  t.connection({
    type: Annotation,
    pageSize: 20,
    description: 'The public annotations on the book, from `GET /v2/book/{id}/annotations`.',
    args: {
      order: t.arg({ type: AnnotationOrder, defaultValue: 'rank', description: 'What comes first.' }),
      page: t.arg.int({ description: `Only those on this page of the book, 1 to ${PAGE_BELOW - 1}.` }),
    },
    endpoint: bookEndpoints.annotations,
    from: ['id'],
    variants: 'format',
    input: ({ id }, { order, page }) => {
      if (page != null && (page < 1 || page >= PAGE_BELOW)) {
        throw badInput(`\`page\` must be from 1 to ${PAGE_BELOW - 1}.`, { argument: 'page', limit: PAGE_BELOW - 1 });
      }
      return { id, order: order ?? undefined, page: page ?? undefined };
    },
  }),
);

builder.objectField(User, 'annotations', (t) =>
  t.connection({
    type: Annotation,
    pageSize: 20,
    description: 'What this person noted on books, last edited first, from `GET /v2/book/user/{name}/annotations`.',
    endpoint: bookEndpoints.userAnnotations,
    from: userEdgeNames,
    input: ({ id }) => ({ name: id }),
    isEmpty: isSite,
  }),
);

builder.queryField('annotation', (t) =>
  t.call({
    type: Annotation,
    description: 'An annotation by id, from `GET /v2/book/annotation/{id}`; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Global or bare id.' }) },
    endpoint: bookEndpoints.annotation,
    input: (_, { id }) => ({ id: sourceIdOf('Annotation', id) }),
    resolve: (annotation) => annotation,
  }),
);

interface Formatted {
  format?: 'TEXT' | 'HTML' | null;
}
/** The `format` to request; undefined for the text that the record has without it. */
function formatOf({ format }: Formatted): 'html' | undefined {
  return format === 'HTML' ? 'html' : undefined;
}
