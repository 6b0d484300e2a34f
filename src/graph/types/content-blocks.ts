/** The content of notes and annotations as blocks. */
import { builder } from '../../engine/builder.ts';
import { type ContentBlockShape, type ContentPhotoShape, type TextSpanShape, contentPhotos } from './content-markup.ts';
import { decoder } from '../../engine/values/decode.ts';

type BlockOf<Kind> = Extract<ContentBlockShape, { kind: Kind }>;

export const PhotoLayout = builder.enumType('PhotoLayout', {
  description: 'The alignment of a picture.',
  values: {
    LEFT: { value: 'L', description: 'Left.' },
    CENTER: { value: 'C', description: 'Centered.' },
    RIGHT: { value: 'R', description: 'Right.' },
  } as const,
});

export const ContentPhoto = builder.objectRef<ContentPhotoShape>('ContentPhoto').implement({
  description: 'A picture of a note or an annotation.',
  fields: (t) => ({
    number: t.exposeInt('number', {
      description:
        'The number by which the content refers to the picture, or its id if the service has its pictures under ids; unique within one note or annotation.',
    }),
    url: t.expose('url', {
      type: 'URL',
      nullable: true,
      description: 'The URL of the picture.',
      nullIf: 'the service returns none',
    }),
  }),
});

const TextSpan = builder.objectRef<TextSpanShape>('TextSpan').implement({
  description: 'A part of a paragraph: either a link or plain text.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The text, never empty; the URL for a link without a title.' }),
    linkUrl: t.expose('linkUrl', {
      type: 'URL',
      nullable: true,
      description: 'The target of the link.',
      nullIf: 'the text is no link',
    }),
  }),
});

/** The number of spans of a paragraph that the cost assumes; most paragraphs have one. */
const SPANS = 2;

const TextBlock = builder.objectRef<BlockOf<'TextBlock'>>('TextBlock').implement({
  description:
    'A paragraph: one line of the content, or the part of a line before or after a picture, formula or quotation.',
  fields: (t) => ({
    spans: t.field({
      type: [TextSpan],
      assumedSize: SPANS,
      description: 'The text and links of the paragraph, in order.',
      resolve: ({ spans }) => spans,
    }),
    isQuote: t.boolean({
      description: 'Whether the author of an annotation marked the paragraph as quoted from the book.',
      resolve: ({ isQuote }) => isQuote ?? false,
    }),
  }),
});

const PhotoBlock = builder.objectRef<BlockOf<'PhotoBlock'>>('PhotoBlock').implement({
  description: 'A picture at its place in the content.',
  fields: (t) => ({
    photo: t.field({
      type: ContentPhoto,
      nullable: true,
      description: 'The picture.',
      nullIf: 'there is no picture with the number in the content',
      resolve: ({ photo }) => photo,
    }),
    layout: t.field({
      type: PhotoLayout,
      description: 'The alignment; always CENTER in annotations.',
      resolve: ({ layout }) => layout,
    }),
    caption: t.exposeString('caption', {
      nullable: true,
      description: 'Plain text under the picture.',
      nullIf: 'there is none',
    }),
  }),
});

const MathBlock = builder.objectRef<BlockOf<'MathBlock'>>('MathBlock').implement({
  description: 'A formula.',
  fields: (t) => ({ tex: t.exposeString('tex', { description: 'The formula in TeX, without delimiters.' }) }),
});

export const ContentBlock = builder.unionType('ContentBlock', {
  description: 'A paragraph, picture or formula of a note or annotation.',
  types: [TextBlock, PhotoBlock, MathBlock],
  resolveType: ({ kind }) => kind,
});

/** The pictures by number. */
export const photosByNumber = decoder(ContentPhoto, contentPhotos, { list: true });
