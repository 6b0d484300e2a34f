import { type XmlElement, serialize, writableText } from '../../atom/media.ts';

/** An element of a picture. A character that XML cannot carry is left out, because it would make the whole picture invalid. */
export const shape = (
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  children: readonly (XmlElement | string)[] = [],
): XmlElement => ({
  name,
  attributes: Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, writableText(String(value))])),
  children: children.map((child) => (typeof child === 'string' ? writableText(child) : child)),
});

const TITLE_MAX = 200;

export interface Drawing {
  /** Describes the picture for screen readers. */
  title: string;
  width: number;
  height: number;
  shapes: readonly XmlElement[];
}

/** The picture as an SVG document of the given width and height in pixels, cropped evenly if the aspect ratio differs. */
export function svgOf({ title, width, height, shapes }: Drawing, [pixelsWide, pixelsHigh]: readonly [number, number]) {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width: pixelsWide,
    height: pixelsHigh,
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: 'xMidYMid slice',
    role: 'img',
  };
  return serialize(shape('svg', attributes, [shape('title', {}, [title.slice(0, TITLE_MAX)]), ...shapes]));
}
