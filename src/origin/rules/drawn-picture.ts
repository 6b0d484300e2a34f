import { drawAvatar, drawCover, drawEvent, drawPortrait, drawPoster, drawScene } from '../drawing/draw.ts';
import { type PictureKind, pixelsOf } from '../store/drawn-pictures.ts';
import { type Drawing, svgOf } from '../drawing/svg.ts';
import type { Stores } from '../store/stores.ts';
import { numericId } from './call.ts';
import { Rejection, found } from './rejection.ts';

/** The picture of a record in one of its sizes, as SVG. It contains only public data of the record. Throws Rejection 1001 if there is none. */
export function drawnPicture(stores: Stores, kind: string, size: string, file: string): string {
  const target = pixelsOf(kind, size);
  const id = /^(\d{1,15}(?:-\d{1,6})?)\.svg$/.exec(file)?.[1];
  if (!target || !id) throw new Rejection(1001);
  return svgOf(found(drawingOf(stores, target.kind, id), 1001), target.pixels);
}

function drawingOf({ db }: Stores, kind: PictureKind, id: string): Drawing | undefined {
  switch (kind) {
    case 'book': {
      const book = db.find('books', { id });
      return book && drawCover({ id, title: book.title, author: (JSON.parse(book.author) as string[]).join(' ') });
    }
    case 'subject': {
      const film = db.find('subjects', { id });
      return film && drawPoster({ id, title: film.title, original: film.original_title, year: film.year });
    }
    case 'celebrity': {
      const person = db.find('celebrities', { id });
      return person && drawPortrait({ id, name: person.name, other: person.name_en });
    }
    case 'person': {
      const person = db.find('people', { id });
      return person && drawAvatar({ id, name: person.name });
    }
    case 'event': {
      const event = db.find('events', { id: numericId(id) });
      if (event?.has_image !== 1) return undefined;
      return drawEvent({ id, title: event.title, day: event.starts.slice(5, 10), place: event.place });
    }
    // Drawn from the id alone, so that the picture does not reveal whether the annotation or note exists.
    case 'photo':
    case 'annotation':
    case 'note':
      return drawScene(kind, id);
  }
}
