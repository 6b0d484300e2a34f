import { address } from '../address.ts';

type Sizes = Record<string, readonly [width: number, height: number]>;

/**
 * The pictures that the service draws, with their sizes in pixels. Not specified, except for subjects and celebrities.
 * All sizes of a kind have about the same aspect ratio, because a small picture is the large one, scaled.
 */
export const pictureSizes = {
  book: { small: [66, 98], medium: [98, 145], large: [270, 400] },
  subject: { small: [64, 103], medium: [96, 155], large: [288, 465] },
  celebrity: { small: [70, 100], medium: [140, 200], large: [420, 600] },
  person: { small: [48, 48], large: [160, 160] },
  event: { large: [300, 420] },
  photo: { icon: [75, 75], thumb: [128, 85], cover: [150, 100], large: [600, 400] },
  annotation: { large: [600, 400] },
  note: { large: [600, 400] },
} as const satisfies Record<string, Sizes>;

export type PictureKind = keyof typeof pictureSizes;
type SizeOf<Kind extends PictureKind> = keyof (typeof pictureSizes)[Kind] & string;

export const drawnUrl = <Kind extends PictureKind>(kind: Kind, size: SizeOf<Kind>, id: string) =>
  address(`/pictures/${kind}/${size}/${id}.svg`);

export function drawnImages(kind: 'book' | 'subject' | 'celebrity', id: string) {
  return {
    small: drawnUrl(kind, 'small', id),
    medium: drawnUrl(kind, 'medium', id),
    large: drawnUrl(kind, 'large', id),
  };
}

/** Pixels of a size. Kind and size come from the client: undefined if there is no such kind or size. */
export function pixelsOf(
  kind: string,
  size: string,
): { kind: PictureKind; pixels: readonly [number, number] } | undefined {
  if (!isKind(kind) || !Object.hasOwn(pictureSizes[kind], size)) return undefined;
  const sizes: Sizes = pictureSizes[kind];
  return { kind, pixels: sizes[size]! };
}

const isKind = (kind: string): kind is PictureKind => Object.hasOwn(pictureSizes, kind);
