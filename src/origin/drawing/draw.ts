import { escape, writableText } from '../../atom/media.ts';
import { type Chance, createChance } from '../store/seed/chance.ts';
import { type PictureKind, pictureSizes } from '../store/drawn-pictures.ts';
import { fitted } from './lines.ts';

/** A text in a picture: its left end, the baseline of the first line, the font sizes to try, and the most lines. */
export interface Caption {
  text: string;
  /** Undefined: centred. */
  x?: number;
  y: number;
  sizes: readonly number[];
  most: number;
  /** Further attributes. */
  style?: string;
  isAccented?: boolean;
}

/** The picture of a record as SVG of these pixels, always the same for an id. `title` describes it for screen readers. */
export function draw(kind: PictureKind, id: string, [w, h]: readonly number[], title: string, captions: Caption[]) {
  const [width, height] = pictureSizes[kind].large;
  // The id comes first: this gives records with neighbouring ids different colours.
  const chance = createChance(`${id} ${kind}`);
  const canvas = { chance, width, height, ...coloursOf(chance) };
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${width} ${height}" role="img"
 preserveAspectRatio="xMidYMid slice" font-family="Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif">
<title>${clean(title.slice(0, 200))}</title>
${[...backgrounds[kind](canvas), ...captions.flatMap((caption) => letters(caption, canvas))].join('\n')}
</svg>`;
}

/** A character that XML cannot carry would make the whole picture invalid. */
const clean = (text: string) => escape(writableText(text));

function letters({ text, x, y, sizes, most, style = '', isAccented }: Caption, { width, light, accent }: Canvas) {
  const { size, lines } = fitted(text, width - (x === undefined ? 60 : x + Math.min(x, 28)), sizes, most);
  const at = x === undefined ? `x="${width / 2}" text-anchor="middle"` : `x="${x}"`;
  return lines.map(
    (line, n) =>
      `<text ${at} y="${y + n * size * 1.28}" font-size="${size}" fill="${isAccented ? accent : light}" ${style}>${clean(line)}</text>`,
  );
}

function coloursOf(chance: Chance) {
  const hue = chance.int(360);
  const [beside, across] = [hue + chance.between(25, 60), hue + chance.between(150, 210)];
  const from = `hsl(${hue}, 42%, ${chance.between(24, 34)}%)`;
  const to = `hsl(${beside}, 48%, ${chance.between(36, 46)}%)`;
  const accent = `hsl(${across}, 68%, ${chance.between(58, 66)}%)`;
  return { from, to, accent, light: `hsl(${hue}, 30%, 94%)`, dark: `hsl(${hue}, 45%, 14%)` };
}
type Canvas = { chance: Chance; width: number; height: number } & ReturnType<typeof coloursOf>;

const rect = (y: number, height: number, fill: string, opacity = 1, x = 0, width = 600) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}" fill-opacity="${opacity}"/>`;
const circle = (x: number, y: number, r: number, fill: string, opacity = 1) =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}" fill-opacity="${opacity}"/>`;
const path = (d: string, fill: string) => `<path d="${d}" fill="${fill}"/>`;

const backgrounds: Record<PictureKind, (canvas: Canvas) => string[]> = {
  book: (canvas) => [
    rect(0, 400, canvas.from),
    ...ornament(canvas, 248),
    ...[rect(0, 400, canvas.dark, 0.45, 0, 16), rect(0, 400, canvas.light, 0.2, 16, 2)], // the spine
    ...[rect(316, 84, canvas.dark, 0.6), rect(316, 3, canvas.accent, 1, 44, 40)],
  ],
  subject: (canvas) => [...landscape(canvas, 344), rect(307, 158, canvas.dark, 0.82), rect(307, 3, canvas.accent)],
  celebrity: (canvas) => [...gradient(canvas), ...figure(canvas), rect(472, 128, canvas.dark, 0.8)],
  person: (canvas) => gradient(canvas),
  event: (canvas) => [...gradient(canvas), ...ornament(canvas, 319), rect(336, 84, canvas.dark, 0.7)],
  photo: (canvas) => landscape(canvas, 400),
  annotation: (canvas) => landscape(canvas, 400),
  note: (canvas) => landscape(canvas, 400),
};

const gradient = ({ height, from, to }: Pick<Canvas, 'height' | 'from' | 'to'>) => [
  `<linearGradient id="ground" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>`,
  rect(0, height, 'url(#ground)'),
];

/** Rings, stripes, dots or sails in the lower part. */
function ornament({ chance, width, from, to, accent }: Canvas, y: number): string[] {
  const x = chance.between(Math.round(width * 0.35), Math.round(width * 0.9));
  const r = width * 0.36;
  const dot = () => circle(chance.int(width), y + chance.between(-70, 70), chance.between(4, 20), accent, 0.5);
  const sail = (part: number, fill: string) =>
    path(`M${x - r * part} ${y + 70}L${x} ${y + 70 - r * part * 1.5}L${x + r * part * 0.6} ${y + 70}`, fill);
  const all = [
    () => [1, 0.75, 0.5, 0.25].map((part, n) => circle(x, y, r * part, n % 2 ? from : accent, 0.6)),
    () => [0, 1, 2, 3, 4].map((n) => rect(y - 60 + n * 26, 5 + 3 * n, accent, 0.5)),
    () => Array.from({ length: 18 }, dot),
    () => [sail(0.9, accent), sail(0.6, to), sail(0.35, accent)],
  ];
  return chance.pick(all)();
}

/** A sky, a sun or moon, and hills. */
function landscape({ chance, width, height, from, to, accent, light, dark }: Canvas, bottom: number): string[] {
  const sun = circle(
    chance.between(width * 0.2, width * 0.8),
    bottom * 0.36,
    width * (chance.between(9, 17) / 100),
    accent,
  );
  const hill = (top: number, fill: string) => {
    const ridge = [0, 1, 2, 3, 4, 5, 6].map(
      (n) => `${(width * n) / 6} ${bottom * (top + chance.between(-9, 9) / 100)}`,
    );
    return path(`M0 ${height}L${ridge.join('L')}L${width} ${height}`, fill);
  };
  return [...gradient({ height, from: to, to: light }), sun, hill(0.52, to), hill(0.66, from), hill(0.8, dark)];
}

/** A generic head with shoulders. */
function figure({ chance, width, height, accent, dark }: Canvas): string[] {
  const [x, y] = [width / 2, height * (chance.between(33, 37) / 100)];
  const r = width * (chance.between(17, 20) / 100);
  const shoulders = `M${x - 2.1 * r} ${y + 5 * r}c0 ${-4.6 * r} ${4.2 * r} ${-4.6 * r} ${4.2 * r} 0`;
  return [circle(x, y + r * 0.4, r * 2, accent, 0.22), path(shoulders, dark), circle(x, y, r, accent)];
}
