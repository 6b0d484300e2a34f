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
${[...background(kind, canvas), ...captions.flatMap((caption) => letters(caption, canvas))].join('\n')}
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

const rect = (y: number, height: number, fill: string, opacity = 1) =>
  `<rect y="${y}" width="600" height="${height}" fill="${fill}" fill-opacity="${opacity}"/>`;
const circle = (x: number, y: number, r: number, fill: string) =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}"/>`;
const path = (d: string, fill: string) => `<path d="${d}" fill="${fill}"/>`;

/** The dark bands behind captions, from the top of the picture in its largest size. */
const bands: Partial<Record<PictureKind, readonly [y: number, height: number]>> = {
  book: [316, 84],
  subject: [307, 158],
  celebrity: [472, 128],
  event: [336, 84],
};

/** Their titles stand on the background, which must be dark. */
const dark: ReadonlySet<PictureKind> = new Set(['book', 'event', 'person']);

function background(kind: PictureKind, canvas: Canvas): string[] {
  const band = bands[kind];
  const shapes = dark.has(kind) ? gradient(canvas) : landscape(canvas, band?.[0] ?? canvas.height);
  return band ? [...shapes, rect(...band, canvas.dark, 0.8), rect(band[0], 3, canvas.accent)] : shapes;
}

const gradient = ({ height, from, to }: Pick<Canvas, 'height' | 'from' | 'to'>) => [
  `<linearGradient id="ground" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>`,
  rect(0, height, 'url(#ground)'),
];

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
