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
  return svgOf(drawingOf(stores, target.kind, id), target.pixels);
}

function drawingOf({ db }: Stores, kind: PictureKind, id: string): Drawing {
  switch (kind) {
    case 'book':
      return drawCover(found(db.find('books', { id }), 1001));
    case 'subject':
      return drawPoster(found(db.find('subjects', { id }), 1001));
    case 'celebrity':
      return drawPortrait(found(db.find('celebrities', { id }), 1001));
    case 'person':
      return drawAvatar(found(db.find('people', { id }), 1001));
    case 'event':
      return drawEvent(found(db.find('events', { id: numericId(id), has_image: 1 }), 1001));
    // Drawn from the id alone, so that the picture does not reveal whether the annotation or note exists.
    case 'photo':
    case 'annotation':
    case 'note':
      return drawScene(kind, id);
  }
}
