import { Readable } from 'node:stream';
import { PICTURE_BELOW } from '../../../api/book.ts';

/**
 * Opens a file for each of several readers, because its stream can be read once. It is read when the first of them asks, and kept up to the
 * size that no picture may have: that much shows every reader that it is too large. `take` is called before bytes are kept; the file
 * fails with the error that it returns.
 */
export function shareFile(open: () => Readable, take: (bytes: number) => Error | undefined): () => Readable {
  let reading: Promise<Buffer[]> | undefined;
  return () => {
    if (!reading) {
      reading = read(open(), take);
      reading.catch(() => undefined); // each reader gets the error
    }
    return Readable.from(chunksOf(reading), { objectMode: false });
  };
}

async function read(file: Readable, take: (bytes: number) => Error | undefined): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of file as AsyncIterable<Buffer>) {
    if (size >= PICTURE_BELOW) continue;
    size += chunk.length;
    const refused = take(chunk.length);
    if (refused) throw refused;
    chunks.push(chunk);
  }
  return chunks;
}

async function* chunksOf(reading: Promise<Buffer[]>): AsyncGenerator<Buffer, void, void> {
  yield* await reading;
}
