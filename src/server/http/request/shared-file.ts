import { Readable } from 'node:stream';
import { PICTURE_BELOW } from '../../../api/book.ts';

/**
 * Opens a file for each of several readers, because its stream can be read once. It is read when the first of them asks, and kept up to the
 * size that no picture may have: that much shows every reader that it is too large. `onBytes` is called with the bytes that are kept.
 */
export function shareFile(open: () => Readable, onBytes: (bytes: number) => void): () => Readable {
  let reading: Promise<Buffer[]> | undefined;
  return () => {
    if (!reading) {
      reading = read(open(), onBytes);
      reading.catch(() => undefined); // each reader gets the error
    }
    return Readable.from(chunksOf(reading), { objectMode: false });
  };
}

async function read(file: Readable, onBytes: (bytes: number) => void): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of file as AsyncIterable<Buffer>) {
    if (size >= PICTURE_BELOW) continue;
    size += chunk.length;
    chunks.push(chunk);
    onBytes(chunk.length);
  }
  return chunks;
}

async function* chunksOf(reading: Promise<Buffer[]>): AsyncGenerator<Buffer, void, void> {
  yield* await reading;
}
