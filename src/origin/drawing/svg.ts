import { escape, writableText } from '../../atom/media.ts';

/** An element of a picture. Texts and values are not yet escaped. */
export interface Shape {
  name: string;
  attributes: Readonly<Record<string, string | number>>;
  children: readonly (Shape | string)[];
}

export const shape = (name: string, attributes: Shape['attributes'] = {}, children: Shape['children'] = []): Shape => ({
  name,
  attributes,
  children,
});

const TITLE_MAX = 200;

export interface Drawing {
  /** Describes the picture for screen readers. */
  title: string;
  width: number;
  height: number;
  shapes: readonly Shape[];
}

/** The picture as an SVG document of the given width and height in pixels, cropped evenly if the aspect ratio differs. */
export function svgOf({ title, width, height, shapes }: Drawing, [pixelsWide, pixelsHigh]: readonly [number, number]) {
  const out: string[] = ['<?xml version="1.0" encoding="UTF-8"?>\n'];
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width: pixelsWide,
    height: pixelsHigh,
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: 'xMidYMid slice',
    role: 'img',
  };
  write(shape('svg', attributes, [shape('title', {}, [title.slice(0, TITLE_MAX)]), ...shapes]), out);
  return out.join('');
}

function write({ name, attributes, children }: Shape, out: string[]) {
  out.push('<', name);
  for (const [key, value] of Object.entries(attributes)) out.push(' ', key, '="', escaped(String(value)), '"');
  if (children.length === 0) return void out.push('/>');
  out.push('>');
  for (const child of children) {
    if (typeof child === 'string') out.push(escaped(child));
    else write(child, out);
  }
  out.push('</', name, '>');
}

// A character that XML cannot carry would make the whole picture invalid.
const escaped = (text: string) => escape(writableText(text));
