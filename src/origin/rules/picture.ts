import { PICTURE_BELOW } from '../../api/book.ts';
import type { NewRow } from '../store/database/schema.ts';
import type { Call } from './call.ts';
import { Rejection, found } from './rejection.ts';

/**
 * Stores the received pictures and the rows that refer to them, whose numbers must be new. Their type is checked by the first bytes,
 * not by the name.
 */
export function keepPictures<Name extends 'annotation_photos' | 'note_photos'>(
  { db, pictures, received }: Call,
  table: Name,
  rows: readonly NewRow<Name>[],
) {
  for (const { bytes, kind } of received) {
    if (bytes >= PICTURE_BELOW) throw new Rejection(1003);
    if (kind === null) throw new Rejection(1009);
  }
  for (const row of rows) found(db.insertNew(table, row), 999);
  pictures.keep(received);
}

/** The URLs of stored pictures by their numbers. */
export const urlsByNumber = ({ pictures }: Call, rows: readonly { number: number; picture: string }[]) =>
  new Map(rows.map(({ number, picture }) => [number, pictures.urlOf(picture)]));
