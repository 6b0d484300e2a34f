import { PICTURE_BELOW } from '../../api/book.ts';
import type { ReceivedPicture } from '../store/pictures.ts';
import { Refusal } from './refusal.ts';

/** Small enough, and a picture by its first bytes, whatever its name says. */
export function checkPictures(pictures: readonly ReceivedPicture[]) {
  for (const { bytes, kind } of pictures) {
    if (bytes >= PICTURE_BELOW) throw new Refusal(1003);
    if (kind === null) throw new Refusal(1009);
  }
}
