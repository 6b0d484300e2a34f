import type { XmlElement } from '../../atom/media.ts';
import { type Chance, createChance } from '../store/seed/chance.ts';
import { fitted } from './lines.ts';
import { type Palette, paletteOf } from './palette.ts';
import { type PictureKind, pictureSizes } from '../store/drawn-pictures.ts';
import type { Person, Stored } from '../store/schema.ts';
import { type Drawing, shape } from './svg.ts';

const SERIF = "'Noto Serif CJK SC', 'Noto Serif SC', 'Songti SC', SimSun, serif";
const SANS = "'Noto Sans CJK SC', 'Noto Sans SC', 'PingFang SC', 'Microsoft YaHei', sans-serif";

interface Canvas {
  chance: Chance;
  palette: Palette;
  width: number;
  height: number;
}

/** A drawing in the largest size. The random generator is seeded by the record, so its picture never changes. */
function drawing(kind: PictureKind, id: string, title: string, shapesOn: (canvas: Canvas) => XmlElement[]): Drawing {
  // The id comes first: this gives records with neighbouring ids different colours.
  const chance = createChance(`${id} ${kind}`);
  const [width, height] = pictureSizes[kind].large;
  return { title, width, height, shapes: shapesOn({ chance, palette: paletteOf(chance), width, height }) };
}

export const drawCover = (book: Stored<'books'>): Drawing =>
  drawing('book', book.id, book.title, (canvas) => {
    const { palette, width, height } = canvas;
    const title = { text: book.title, y: 62, width: width - 72, sizes: [36, 31, 26, 22, 18], most: 5 };
    const names = (JSON.parse(book.author) as string[]).join(' ');
    const author = { text: names, y: height - 38, width: width - 72, sizes: [17, 15], most: 1 };
    return [
      rect(0, 0, width, height, palette.from),
      ...ornament(canvas, height * 0.62),
      // The spine.
      rect(0, 0, 16, height, palette.dark, 0.45),
      rect(16, 0, 2, height, palette.light, 0.2),
      ...letters(title, 44, { fill: palette.light, 'font-family': SERIF, 'font-weight': 700 }),
      rect(0, height - 84, width, 84, palette.dark, 0.6),
      rect(44, height - 84, 40, 3, palette.accent),
      ...letters(author, 44, { fill: palette.light, 'font-family': SERIF }),
    ];
  });

export const drawPoster = (film: Stored<'subjects'>): Drawing =>
  drawing('subject', film.id, film.title, (canvas) => {
    const { palette, width, height } = canvas;
    const title = { text: film.title, y: height - 112, width: width - 48, sizes: [38, 32, 27, 23, 19], most: 2 };
    const below = [film.original_title === film.title ? '' : film.original_title, film.year]
      .filter(Boolean)
      .join(' · ');
    const small = { text: below, y: height - 28, width: width - 48, sizes: [15, 13], most: 1 };
    return [
      ...landscape(canvas, height * 0.74),
      rect(0, height * 0.66, width, height * 0.34, palette.dark, 0.82),
      rect(0, height * 0.66, width, 3, palette.accent),
      ...letters(title, 24, { fill: palette.light, 'font-family': SANS, 'font-weight': 700 }),
      ...letters(small, 24, { fill: palette.light, 'fill-opacity': 0.8, 'font-family': SANS }),
    ];
  });

export const drawPortrait = (person: Stored<'celebrities'>): Drawing =>
  drawing('celebrity', person.id, person.name, (canvas) => {
    const { palette, width, height } = canvas;
    const name = { text: person.name, y: height - 66, width: width - 60, sizes: [40, 34, 28, 24], most: 1 };
    const other = { text: person.name_en, y: height - 30, width: width - 60, sizes: [22, 18], most: 1 };
    const centred = { fill: palette.light, 'font-family': SANS, 'text-anchor': 'middle' };
    return [
      ...gradient(canvas),
      ...figure(canvas),
      rect(0, height - 128, width, 128, palette.dark, 0.8),
      ...letters(name, width / 2, { ...centred, 'font-weight': 700 }),
      ...letters(other, width / 2, { ...centred, 'fill-opacity': 0.8 }),
    ];
  });

/** The first letter of the name, as many services draw it. */
export const drawAvatar = (person: Person): Drawing =>
  drawing('person', person.id, person.name, (canvas) => {
    const { palette, width, height } = canvas;
    const text = /[\p{L}\p{N}]/u.exec(person.name)?.[0] ?? '';
    const style = { fill: palette.light, 'font-family': SANS, 'font-weight': 700, 'text-anchor': 'middle' };
    return [...gradient(canvas), ...letters({ text, y: height * 0.67, width, sizes: [84], most: 1 }, width / 2, style)];
  });

export const drawEvent = (event: Stored<'events'>): Drawing =>
  drawing('event', String(event.id), event.title, (canvas) => {
    const { palette, width, height } = canvas;
    const title = { text: event.title, y: 170, width: width - 56, sizes: [34, 29, 25, 21, 18], most: 4 };
    // Month and day in the time zone of the event.
    const day = { text: event.starts.slice(5, 10).replace('-', '.'), y: 92, width: width - 56, sizes: [60], most: 1 };
    const place = { text: event.place, y: height - 46, width: width - 56, sizes: [16, 14], most: 2 };
    return [
      ...gradient(canvas),
      ...ornament(canvas, height * 0.76),
      rect(0, height - 84, width, 84, palette.dark, 0.7),
      ...letters(day, 28, { fill: palette.accent, 'font-family': SANS, 'font-weight': 700 }),
      ...letters(title, 28, { fill: palette.light, 'font-family': SANS, 'font-weight': 700 }),
      ...letters(place, 28, { fill: palette.light, 'font-family': SANS }),
    ];
  });

/** A landscape without text: the annotation or note that it belongs to may be private. */
export const drawScene = (kind: 'photo' | 'annotation' | 'note', id: string): Drawing =>
  drawing(kind, id, '', (canvas) => landscape(canvas, canvas.height));

/** One text in a picture; coordinates and sizes in pixels. */
interface Words {
  text: string;
  /** Baseline of the first line. */
  y: number;
  width: number;
  /** Font sizes to try, largest first. */
  sizes: readonly number[];
  /** Most lines. */
  most: number;
}

function letters(
  { text, y, width, sizes, most }: Words,
  x: number,
  style: Record<string, string | number>,
): XmlElement[] {
  const { size, lines } = fitted(text, width, sizes, most);
  return lines.map((line, n) =>
    shape('text', { x, y: Math.round(y + n * size * 1.28), 'font-size': size, ...style }, [line]),
  );
}

const rect = (x: number, y: number, width: number, height: number, fill: string, opacity = 1) =>
  shape('rect', { x, y: Math.round(y), width, height: Math.ceil(height), fill, 'fill-opacity': opacity });

const circle = (cx: number, cy: number, r: number, fill: string, opacity = 1) =>
  shape('circle', { cx: Math.round(cx), cy: Math.round(cy), r: Math.round(r), fill, 'fill-opacity': opacity });

function gradient({ palette, width, height }: Canvas): XmlElement[] {
  const stops = [
    shape('stop', { offset: 0, 'stop-color': palette.from }),
    shape('stop', { offset: 1, 'stop-color': palette.to }),
  ];
  return [
    shape('defs', {}, [shape('linearGradient', { id: 'ground', x1: 0, y1: 0, x2: 0, y2: 1 }, stops)]),
    rect(0, 0, width, height, 'url(#ground)'),
  ];
}

/** Rings, stripes, dots or sails in the lower part. */
function ornament({ chance, palette, width }: Canvas, y: number): XmlElement[] {
  const x = chance.between(Math.round(width * 0.35), Math.round(width * 0.9));
  const r = width * 0.36;
  switch (chance.int(4)) {
    case 0:
      return [1, 0.75, 0.5, 0.25].map((part, n) => circle(x, y, r * part, n % 2 ? palette.from : palette.accent, 0.6));
    case 1:
      return [0, 1, 2, 3, 4].map((n) => rect(0, y - 60 + n * 26, width, 5 + 3 * n, palette.accent, 0.5));
    case 2:
      return Array.from({ length: 18 }, () =>
        circle(chance.int(width), y + chance.between(-70, 70), chance.between(4, 20), palette.accent, 0.5),
      );
    default:
      return [0.9, 0.6, 0.35].map((part, n) =>
        polygon(
          [
            [x - r * part, y + 70],
            [x, y + 70 - r * 1.5 * part],
            [x + r * part * 0.6, y + 70],
          ],
          n % 2 ? palette.to : palette.accent,
        ),
      );
  }
}

/** A sky, a sun or moon, and hills down to `bottom`. */
function landscape(canvas: Canvas, bottom: number): XmlElement[] {
  const { chance, palette, width, height } = canvas;
  const sun = circle(
    chance.between(width * 0.2, width * 0.8),
    bottom * 0.36,
    width * (chance.between(9, 17) / 100),
    palette.accent,
  );
  const hills = [0.52, 0.66, 0.8].map((part, n) => {
    const ridge = Array.from({ length: 7 }, (_, k): Point => [
      (width * k) / 6,
      bottom * part + chance.between(-9, 9) * (bottom / 100),
    ]);
    return polygon(
      [...ridge, [width, height], [0, height]],
      n === 0 ? palette.to : n === 1 ? palette.from : palette.dark,
      n === 0 ? 0.9 : 1,
    );
  });
  return [...gradient({ ...canvas, palette: { ...palette, from: palette.to, to: palette.light } }), sun, ...hills];
}

/** A generic head with shoulders. */
function figure({ chance, palette, width, height }: Canvas): XmlElement[] {
  const [x, y] = [width / 2, height * (chance.between(33, 37) / 100)];
  const r = width * (chance.between(17, 20) / 100);
  const at = (dx: number, dy: number) => `${Math.round(x + r * dx)} ${Math.round(y + r * dy)}`;
  const shoulders = `M ${at(-2.1, 5)} C ${at(-2.1, 0.4)} ${at(2.1, 0.4)} ${at(2.1, 5)} Z`;
  return [
    circle(x, y + r * 0.4, r * 2, palette.accent, 0.22),
    shape('path', { d: shoulders, fill: palette.dark }),
    circle(x, y, r, palette.accent),
  ];
}

type Point = [x: number, y: number];
const polygon = (points: readonly Point[], fill: string, opacity = 1) =>
  shape('polygon', {
    points: points.map((point) => point.map(Math.round).join(',')).join(' '),
    fill,
    'fill-opacity': opacity,
  });
