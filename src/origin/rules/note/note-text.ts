import { charactersIn, firstCharacters, hasMoreThan } from '../../../lib/text/characters.ts';
import type { NoteFormat, PictureLayout } from '../../../api/note.ts';
import { escaped, shortened } from '../book/annotation-text.ts';

const SUMMARY_MAX = 100;
/** Not specified: the length of the abridged formats. */
const ABRIDGED_MAX = 200;

type Piece = { text: string } | { number: number; layout: string; caption: string } | { url: string; title: string };

/** The markup of the picture with this number; undefined if it is not stored yet. */
type Placed = (number: number) => { layout: PictureLayout; caption: string } | undefined;

// The length limits prevent quadratic backtracking on a hostile text.
const picture = String.raw`\[img=(\d{1,6}):([LCR])\](.{0,1000}?)\[\/img\]`;
const link = String.raw`\[url="([^"\n]{0,2000})"\](.{0,1000}?)\[\/url\]`;
const markup = new RegExp(`${picture}|${link}`, 'gs');
const written = new RegExp(
  [
    String.raw`(?<tag>\[\/?(?:img|url)\b)`,
    String.raw`<a\s(?:[^<>]{0,500}?\s)?href\s*=\s*(?:"(?<double>[^"]{0,2000})"|'(?<single>[^']{0,2000})')[^<>]{0,500}>(?<title>.{0,1000}?)<\/a>`,
    String.raw`<图片p_(?<number>\d{1,6})>`,
    String.raw`(?<bare>https?:\/\/[^\s<>"'\[\]（）《》「」，。；：！？、]+)`,
  ].join('|'),
  'gis',
);

/**
 * Converts the text of an author into the stored tags. A picture that is not stored yet keeps its pseudo-tag. Not specified: stored tags
 * in a text that is written; they are text, because the interface names the written form alone.
 */
export function noteMarkup(content: string, placed: Placed): string {
  return content.replaceAll(written, (whole: string, ...rest: unknown[]) => {
    const { tag, double, single, title = '', number, bare } = rest.at(-1) as Record<string, string | undefined>;
    if (tag !== undefined) return `［${tag.slice(1)}`;
    if (number !== undefined) {
      const found = placed(Number(number));
      return found ? pictureTag(Number(number), found.layout, found.caption) : whole;
    }
    if (bare !== undefined) {
      const url = bare.replace(/(?<![.,;:!?)])[.,;:!?)]+$/, '');
      return `[url="${url}"][/url]${bare.slice(url.length)}`;
    }
    const href = double ?? single;
    if (href === undefined) return whole;
    const words = unescaped(title.replace(/<[^<>]{0,500}>/g, '')).replaceAll('[/url]', '');
    const url = unescaped(href).trim();
    // Other schemes could carry a script.
    return /^https?:\/\//i.test(url) ? `[url="${url.replace(/["\s]/g, encodeURIComponent)}"]${words}[/url]` : words;
  });
}

export function pictureTag(number: number, layout: PictureLayout, caption: string): string {
  return `[img=${number}:${layout}]${caption.replaceAll('[/img]', '').replace(/\s+/gu, ' ').slice(0, 1000)}[/img]`;
}

/** The content in the requested format. */
export function noteContent(content: string, format: NoteFormat, photos: ReadonlyMap<number, string>): string {
  switch (format) {
    case 'text':
      return content;
    case 'abstract':
      return shortened(plainText(content), ABRIDGED_MAX);
    case 'html_full':
      return html(pieces(content), photos);
    case 'html_short':
      return html(abridged(pieces(content)), photos);
  }
}

export const noteSummary = (content: string) => shortened(plainText(content), SUMMARY_MAX);

/** The text without pictures; a link becomes its title or its URL. */
function plainText(content: string): string {
  const text = pieces(content).map((piece) =>
    'text' in piece ? piece.text : 'url' in piece ? piece.title || piece.url : '',
  );
  return text.join('').replaceAll(/<图片p_\d{1,6}>/g, '');
}

function pieces(content: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of content.matchAll(markup)) {
    if (match.index > end) found.push({ text: content.slice(end, match.index) });
    end = match.index + match[0].length;
    const [, number, layout = 'C', caption = '', url, title = ''] = match;
    found.push(url === undefined ? { number: Number(number), layout, caption } : { url, title });
  }
  if (end < content.length) found.push({ text: content.slice(end) });
  return found;
}

/** The beginning of the content, with links and without pictures. */
function abridged(all: readonly Piece[]): Piece[] {
  const kept: Piece[] = [];
  let left = ABRIDGED_MAX;
  for (const piece of all) {
    if ('number' in piece) continue;
    if ('url' in piece) {
      kept.push(piece);
      left -= charactersIn(piece.title || piece.url, left);
    } else {
      const text = hasMoreThan(piece.text, left) ? `${firstCharacters(piece.text, left).trimEnd()}...` : piece.text;
      kept.push({ text });
      left -= charactersIn(piece.text, left);
    }
    if (left <= 0) break;
  }
  return kept;
}

/** Paragraphs are separated as in annotations. Not specified: the HTML of pictures and links. */
function html(all: readonly Piece[], photos: ReadonlyMap<number, string>): string {
  const written = all.map((piece) => {
    if ('text' in piece) return escaped(piece.text).replaceAll(/\r?\n+/g, '<div style="padding-bottom:1em;"></div>');
    if ('url' in piece) return `<a href="${escaped(piece.url)}">${escaped(piece.title || piece.url)}</a>`;
    const url = photos.get(piece.number);
    return url ? `<img src="${escaped(url)}" alt="${escaped(piece.caption)}" class="${piece.layout}">` : '';
  });
  return written.join('');
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const unescaped = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
