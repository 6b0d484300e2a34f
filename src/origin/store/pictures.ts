import { randomUUID } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { PICTURE_BELOW } from '../../api/book.ts';
import { address } from '../address.ts';

/** A picture that came with a request. It is on the disk, but nobody's until it is kept. */
export interface ReceivedPicture {
  /** Of its part in the form. */
  name: string;
  bytes: number;
  /** What its first bytes say; null: not a picture that the service takes. */
  kind: PictureKind | null;
  /** What it is called once kept. */
  file: string;
  at: string;
}
type PictureKind = 'jpg' | 'png' | 'gif' | 'webp';

const pictureFile = /^[0-9a-f-]{36}\.(jpg|png|gif|webp)$/;
const contentTypes: Record<string, string> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
};

export type PictureStore = ReturnType<typeof createPictureStore>;

/** Pictures are files; the database stores their names. */
export function createPictureStore(dataDir: string) {
  const kept = join(dataDir, 'pictures');
  const arriving = join(kept, 'arriving');
  mkdirSync(arriving, { recursive: true });
  // What a crash left behind was never acknowledged.
  for (const file of readdirSync(arriving)) rmSync(join(arriving, file), { force: true });

  return {
    /** Writes a picture to the disk as it comes; of one that is too large, only the length is found out. */
    async receive(name: string, chunks: AsyncIterable<Buffer>): Promise<ReceivedPicture> {
      const id = randomUUID();
      const at = join(arriving, id);
      let fault: Error | undefined;
      const note = (error: Error) => void (fault ??= error);
      const handle = await open(at, 'wx').catch(note);
      try {
        let bytes = 0;
        let head = Buffer.alloc(0);
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (head.length < 12) head = Buffer.concat([head, chunk.subarray(0, 12)]);
          // A full disk must not stop the form from ending, or the error could not be sent.
          if (handle && !fault && bytes < PICTURE_BELOW) await handle.writeFile(chunk).catch(note);
        }
        if (fault) throw fault;
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

    /** Makes pictures last, before the transaction that names them commits: a crash between leaves a file nobody asks for. */
    keep(pictures: readonly ReceivedPicture[]) {
      if (pictures.length === 0) return;
      for (const picture of pictures) renameSync(picture.at, join(kept, picture.file));
      const directory = openSync(kept, 'r');
      try {
        fsyncSync(directory);
      } finally {
        closeSync(directory);
      }
    },

    /** Forgets what was received and not kept. */
    discard(pictures: readonly ReceivedPicture[]) {
      for (const { at } of pictures) rmSync(at, { force: true });
    },

    /** Removes uploaded pictures; drawn ones have no file. */
    remove(files: readonly string[]) {
      for (const file of files) if (pictureFile.test(file)) rmSync(join(kept, file), { force: true });
    },

    /** The URL of an uploaded or drawn picture. */
    urlOf: (picture: string) => address(`/pictures/${picture}`),

    read(file: string) {
      const type = contentTypes[pictureFile.exec(file)?.[1] ?? ''];
      return type ? { type, stream: createReadStream(join(kept, file)) } : null;
    },
  };
}

function kindOf(head: Buffer): PictureKind | null {
  const text = head.toString('latin1');
  if (text.startsWith('\xff\xd8\xff')) return 'jpg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'webp';
  return null;
}
