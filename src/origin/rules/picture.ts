import { PICTURE_BELOW } from '../../api/book.ts';
import type { ReceivedPicture } from '../store/pictures.ts';
import { Rejection } from './rejection.ts';

/** Checks the size of a picture and its type by the first bytes, not by its name. */
export function checkPictures(pictures: readonly ReceivedPicture[]) {
  for (const { bytes, kind } of pictures) {
    if (bytes >= PICTURE_BELOW) throw new Rejection(1003);
    if (kind === null) throw new Rejection(1009);
  }
}
