import { randomUUID } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PICTURE_BELOW } from '../../api/book.ts';
import { address } from '../address.ts';

/** An uploaded picture. It is stored in a temporary directory until `keep` is called. */
export interface ReceivedPicture {
  /** The name of its part in the form. */
  name: string;
  bytes: number;
  /** Detected from its first bytes; null: not a supported picture. */
  kind: PictureKind | null;
  /** Its file name after `keep`. */
  file: string;
  at: string;
}
type PictureKind = 'jpg' | 'png' | 'gif' | 'webp';

/** The directory of uploaded pictures, in the data directory. */
export const PICTURES = 'pictures';

const pictureFile = /^[0-9a-f-]{36}\.(jpg|png|gif|webp)$/;
const contentTypes: Record<string, string> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** Whether a picture was uploaded; drawn ones have no file. */
export const isPictureFile = (picture: string): boolean => pictureFile.test(picture);

export type PictureStore = ReturnType<typeof createPictureStore>;

/** Pictures are files; the database stores their names. */
export function createPictureStore(dataDir: string) {
  const directory = join(dataDir, PICTURES);
  const uploads = join(directory, 'arriving');
  mkdirSync(uploads, { recursive: true });
  // Files from before a crash were never acknowledged.
  for (const file of readdirSync(uploads)) rmSync(join(uploads, file), { force: true });

  return {
    /** Writes a picture to the disk while it is received. Of one that is too large, only the size is determined. */
    async receive(name: string, chunks: AsyncIterable<Buffer>): Promise<ReceivedPicture> {
      const id = randomUUID();
      const at = join(uploads, id);
      let failure: Error | undefined;
      const note = (error: Error) => void (failure ??= error);
      const handle = await open(at, 'wx').catch(note);
      try {
        let bytes = 0;
        let head = Buffer.alloc(0);
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (head.length < 12) head = Buffer.concat([head, chunk.subarray(0, 12)]);
          // On a full disk, read on to the end of the form, because an earlier response would get lost.
          if (handle && !failure && bytes < PICTURE_BELOW) await handle.writeFile(chunk).catch(note);
        }
        if (failure) throw failure;
        await handle?.sync();
        const kind = kindOf(head);
        return { name, bytes, kind, file: `${id}.${kind ?? 'bin'}`, at };
      } catch (error) {
        rmSync(at, { force: true });
        throw error;
      } finally {
        await handle?.close();
      }
    },

    /** Stores pictures permanently, before the transaction that refers to them is committed: a crash between leaves only unused files. */
    keep(pictures: readonly ReceivedPicture[]) {
      if (pictures.length === 0) return;
      for (const picture of pictures) renameSync(picture.at, join(directory, picture.file));
      syncToDisk(directory);
    },

    /** Removes received pictures that were not stored. */
    discard(pictures: readonly ReceivedPicture[]) {
      for (const { at } of pictures) rmSync(at, { force: true });
    },

    /** Removes uploaded pictures. A file that cannot be removed stays: no record refers to it any more. */
    async remove(files: readonly string[]) {
      const uploaded = files.filter(isPictureFile);
      await Promise.allSettled(uploaded.map((file) => rm(join(directory, file), { force: true })));
    },

    /** The URL of an uploaded or drawn picture. */
    urlOf: (picture: string) => address(`/pictures/${picture}`),

    read(file: string) {
      const type = contentTypes[pictureFile.exec(file)?.[1] ?? ''];
      return type ? { type, stream: createReadStream(join(directory, file)) } : null;
    },
  };
}

/** Until the file, or the entries of the directory, are on the disk. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function kindOf(head: Buffer): PictureKind | null {
  const text = head.toString('latin1');
  if (text.startsWith('\xff\xd8\xff')) return 'jpg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'webp';
  return null;
}
