/**
 * Parses the markup of notes and annotations into blocks.
 *
 * Notes have pictures `[img=<number>:<layout>]<caption>[/img]` and links `[url="<url>"]<title>[/url]`, annotations have pictures `<图片n>`.
 * The real service writes the URL of a link without quotes, and marks quotations in annotations: `<原文开始>…</原文结束>`.
 * Every line is a paragraph. Incomplete markup is text, so nothing that somebody wrote is lost.
 */
import { type PictureLayout, pictureLayouts } from '../../api/note.ts';
import { asObject, asUrl } from '../../engine/values/decode.ts';

export interface ContentPhotoShape {
  number: number;
  url: string | null;
}
export interface TextSpanShape {
  text: string;
  linkUrl: string | null;
}
export type ContentBlockShape =
  | { kind: 'TextBlock'; spans: TextSpanShape[]; isQuote?: true }
  | { kind: 'PhotoBlock'; photo: ContentPhotoShape | null; layout: PictureLayout; caption: string | null }
  | { kind: 'MathBlock'; tex: string };

export function contentPhotos(photos: unknown): ContentPhotoShape[] {
  return Object.entries(asObject(photos as Record<string, unknown> | null))
    .filter(([number]) => /^\d{1,9}$/.test(number))
    .map(([number, url]) => ({ number: Number(number), url: asUrl(url) }))
    .sort((one, other) => one.number - other.number);
}

/** Groups: number and layout of a picture, its end, the URL of a link in quotes or without, its end. */
const noteMarks =
  /\[img=(\d{1,9})(?::([LCR]))?\]|(\[\/img\])|\[url=(?:"([^"\r\n]{0,2000})"|(https?:\/\/[^"\]\s]{1,2000}))\]|(\[\/url\])/gi;

/** A note in its text format. */
export function noteBlocks(content: string, photos: unknown): ContentBlockShape[] {
  const marks = first(content.matchAll(noteMarks));
  const closes = pairs(marks);
  const page = blockBuilder(photosOfNote(marks, photos));

  /** Writes what is between two marks. */
  const read = (opening: number, closing: number, write: WriteText): void => {
    let at = endOf(marks[opening]);
    for (let index = opening + 1; index < closing; index++) {
      const end = closes.get(index);
      if (end === undefined) continue;
      const [, number, layout, , quoted, url = quoted ?? ''] = marks[index]!;
      write(content.slice(at, marks[index]!.index), null);
      if (number === undefined) {
        const linkUrl = asUrl(url);
        read(index, end, (text) => write(text, linkUrl));
        const hasTitle = content.slice(endOf(marks[index]), marks[end]!.index).trim() !== '';
        if (!hasTitle) write(url, linkUrl);
      } else {
        let caption = '';
        read(index, end, (text) => (caption += text));
        page.show(number, layoutOf(layout), caption.trim() || null);
      }
      at = endOf(marks[end]);
      index = end;
    }
    write(content.slice(at, marks[closing]?.index), null);
  };
  read(-1, marks.length, page.write);
  return page.finish();
}

/** Where the text after a mark begins; after none, at the start. */
const endOf = (mark: RegExpExecArray | undefined): number => (mark ? mark.index + mark[0].length : 0);

/** An annotation in its text format. */
export function annotationBlocks(content: string, photos: unknown, hasMath: boolean): ContentBlockShape[] {
  const known = photosIn(photos);
  const blocks: ContentBlockShape[] = [];
  for (const { text, isQuote } of quotations(content))
    for (const block of blocksBetween(text, known, hasMath))
      blocks.push(isQuote && block.kind === 'TextBlock' ? { ...block, isQuote } : block);
  return blocks;
}

const [QUOTE, END_OF_QUOTE] = ['<原文开始>', '</原文结束>'];

/** The quotations in an annotation, and the text between them. A mark without its other is text. */
function quotations(content: string): { text: string; isQuote?: true }[] {
  const parts: { text: string; isQuote?: true }[] = [];
  let at = 0;
  while (parts.length < MARKS_MAX) {
    const opened = content.indexOf(QUOTE, at);
    const end = opened < 0 ? -1 : content.indexOf(END_OF_QUOTE, opened);
    if (end < 0) break;
    const start = content.lastIndexOf(QUOTE, end);
    parts.push({ text: content.slice(at, start) }, { text: content.slice(start + QUOTE.length, end), isQuote: true });
    at = end + END_OF_QUOTE.length;
  }
  parts.push({ text: content.slice(at) });
  return parts;
}

/** A part of an annotation without marks of quotations. */
function blocksBetween(content: string, known: Photos, hasMath: boolean): ContentBlockShape[] {
  const page = blockBuilder(known);
  // The interface does not say how formulas are marked. If the record says that it has any, text between `$$` is taken as TeX.
  const marks = first(content.matchAll(hasMath ? /<图片(\d{1,9})>|\$\$/g : /<图片(\d{1,9})>/g));
  let at = 0;
  let opened: number | null = null; // where the TeX begins
  const end = marks.findLastIndex(([, number]) => number === undefined);
  marks.forEach(({ index, 0: whole, 1: number }, order) => {
    if (opened !== null) {
      if (number !== undefined) return; // a formula holds no pictures
      const tex = content.slice(opened, index).trim();
      if (tex) {
        page.write(content.slice(at, opened - 2), null);
        page.add({ kind: 'MathBlock', tex });
        at = index + whole.length;
      }
      opened = null;
    } else if (number === undefined) {
      if (order < end) opened = index + whole.length;
    } else {
      page.write(content.slice(at, index), null);
      page.show(number, 'C', null);
      at = index + whole.length;
    }
  });
  page.write(content.slice(at), null);
  return page.finish();
}

/** The most marks of one text; later ones are text. More would not fit into a response and would take long to parse. */
const MARKS_MAX = 20_000;

function first(marks: Iterable<RegExpExecArray>): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  for (const mark of marks) if (found.push(mark) === MARKS_MAX) break;
  return found;
}

const layoutOf = (letter: string | undefined) =>
  pictureLayouts.find((layout) => layout === letter?.toUpperCase()) ?? 'C';

/** The closing mark of each opening mark: a closing mark belongs to the nearest open mark of its kind. Crossing marks are text. */
function pairs(marks: readonly RegExpExecArray[]): Map<number, number> {
  const closes = new Map<number, number>();
  let picture = -1;
  let link = -1;
  marks.forEach(([, number, , endsPicture, , , endsLink], index) => {
    if (number !== undefined) picture = index;
    else if (endsPicture) {
      if (picture < 0) return;
      closes.set(picture, index);
      if (link > picture) link = -1;
      picture = -1;
    } else if (endsLink) {
      if (link < 0) return;
      closes.set(link, index);
      if (picture > link) picture = -1;
      link = -1;
    } else link = index;
  });
  return closes;
}

type WriteText = (text: string, linkUrl: string | null) => void;

type Photos = ReadonlyMap<number, ContentPhotoShape>;
const photosIn = (photos: unknown): Photos => new Map(contentPhotos(photos).map((photo) => [photo.number, photo]));

/** The real service also has pictures under ids. Ids are far above the numbers that contents use. */
const NUMBER_MAX = 9_999;

/** The pictures by number. If they are under ids, numbers and ids correspond in ascending order, if there are as many. */
function photosOfNote(marks: readonly RegExpExecArray[], photos: unknown): Photos {
  const ascending = contentPhotos(photos);
  const numbers = new Set(marks.flatMap(([, number]) => (number === undefined ? [] : Number(number))));
  const areIds = ascending.every(({ number }) => number > NUMBER_MAX && !numbers.has(number));
  if (!areIds || numbers.size !== ascending.length) return photosIn(photos);
  return new Map([...numbers].sort((one, other) => one - other).map((number, index) => [number, ascending[index]!]));
}

/** Builds blocks from text and pictures in order. Each line is a block; blank lines are left out. */
function blockBuilder(known: Photos) {
  const pieces: ContentBlockShape[] = [];
  let line: TextSpanShape[] = [];

  const endLine = () => {
    if (line.some(({ text }) => text.trim() !== '')) pieces.push({ kind: 'TextBlock', spans: line });
    line = [];
  };
  const add = (piece: ContentBlockShape) => {
    endLine();
    pieces.push(piece);
  };
  const write: WriteText = (written, linkUrl) => {
    written.split(/\r\n|[\n\r\u2028\u2029]/).forEach((text, index) => {
      if (index > 0) endLine();
      const last = line.at(-1);
      if (text === '') return;
      if (last && last.linkUrl === linkUrl && linkUrl === null) last.text += text;
      else line.push({ text, linkUrl });
    });
  };
  return {
    add,
    write,
    show(number: string, layout: PictureLayout, caption: string | null) {
      add({ kind: 'PhotoBlock', photo: known.get(Number(number)) ?? null, layout, caption });
    },
    finish() {
      endLine();
      return pieces;
    },
  };
}
