import { Readable } from 'node:stream';
import type { MemoryBound } from './held-file.ts';

/**
 * Opens a file for each of several readers, because its stream can be read once. It is read when the first of them asks, and kept within
 * the bound; it fails with the error of the bound.
 */
export function shareFile(open: () => Readable, bound: MemoryBound): () => Readable {
  let reading: Promise<Buffer[]> | undefined;
  return () => {
    if (!reading) {
      reading = read(open(), bound);
      reading.catch(() => undefined); // each reader gets the error
    }
    return Readable.from(chunksOf(reading), { objectMode: false });
  };
}

async function read(file: Readable, { bytesBelow, take }: MemoryBound): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of file as AsyncIterable<Buffer>) {
    if (size >= bytesBelow) continue;
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
