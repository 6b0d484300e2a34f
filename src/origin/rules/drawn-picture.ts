import { type Caption, draw } from '../drawing/draw.ts';
import { type PictureKind, pixelsOf } from '../store/drawn-pictures.ts';
import type { Stores } from '../store/stores.ts';
import { numericId } from './call.ts';
import { Rejection, found } from './rejection.ts';

/** The picture of a record in one of its sizes, as SVG. It contains only public data of the record. Throws Rejection 1001 if there is none. */
export function drawnPicture(stores: Stores, kind: string, size: string, file: string): string {
  const target = pixelsOf(kind, size);
  const id = /^(\d{1,15}(?:-\d{1,6})?)\.svg$/.exec(file)?.[1];
  if (!target || !id) throw new Rejection(1001);
  const { title, captions } = textsOf(stores, target.kind, id);
  return draw(target.kind, id, target.pixels, title, captions);
}

/** Attributes of texts. */
const BOLD = 'font-weight="700"';
const SERIF = `font-family="Noto Serif CJK SC, Songti SC, SimSun, serif"`;

/** What the picture says: the title, and the texts on the picture in its largest size. */
function textsOf({ db }: Stores, kind: PictureKind, id: string): { title: string; captions: Caption[] } {
  switch (kind) {
    case 'book': {
      const { title, author } = found(db.find('books', { id }), 1001);
      const names = (JSON.parse(author) as string[]).join(' ');
      const captions = [
        { text: title, x: 44, y: 62, sizes: [36, 31, 26, 22, 18], most: 5, style: `${BOLD} ${SERIF}` },
        { text: names, x: 44, y: 362, sizes: [17, 15], most: 1, style: SERIF },
      ];
      return { title, captions };
    }
    case 'subject': {
      const { title, original_title, year } = found(db.find('subjects', { id }), 1001);
      const below = [original_title === title ? '' : original_title, year].filter(Boolean).join(' · ');
      const captions = [
        { text: title, x: 24, y: 353, sizes: [38, 32, 27, 23, 19], most: 2, style: BOLD },
        { text: below, x: 24, y: 437, sizes: [15, 13], most: 1 },
      ];
      return { title, captions };
    }
    case 'celebrity': {
      const { name, name_en } = found(db.find('celebrities', { id }), 1001);
      const captions = [
        { text: name, y: 534, sizes: [40, 34, 28, 24], most: 1, style: BOLD },
        { text: name_en, y: 570, sizes: [22, 18], most: 1 },
      ];
      return { title: name, captions };
    }
    // The first letter of the name, as many services draw it.
    case 'person': {
      const { name } = found(db.find('people', { id }), 1001);
      const text = /[\p{L}\p{N}]/u.exec(name)?.[0] ?? '';
      return { title: name, captions: [{ text, y: 107, sizes: [84], most: 1, style: BOLD }] };
    }
    case 'event': {
      const { title, starts, place } = found(db.find('events', { id: numericId(id), has_image: 1 }), 1001);
      const day = starts.slice(5, 10).replace('-', '.'); // in the time zone of the event
      const captions = [
        { text: day, x: 28, y: 92, sizes: [60], most: 1, style: BOLD, isAccented: true },
        { text: title, x: 28, y: 170, sizes: [34, 29, 25, 21, 18], most: 4, style: BOLD },
        { text: place, x: 28, y: 374, sizes: [16, 14], most: 2 },
      ];
      return { title, captions };
    }
    // Drawn from the id alone, so that the picture does not reveal whether the annotation or note exists.
    case 'photo':
    case 'annotation':
    case 'note':
      return { title: '', captions: [] };
  }
}
