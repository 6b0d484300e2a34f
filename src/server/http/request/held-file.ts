import { PassThrough, type Readable, type TransformCallback } from 'node:stream';
import { fileError } from './file-error.ts';

/** What of a file may be in memory. */
export interface MemoryBound {
  /** The size that no file may have: no more is kept, because so much shows every reader that it is too large. */
  bytesBelow: number;
  /** Called before bytes are kept; returns an error if they may not be. */
  take: (bytes: number) => Error | undefined;
}

/**
 * A file that has begun to arrive. It is streamed to its reader; one that nobody reads yet can be held in memory instead.
 *
 * Its end is held back until the next part is validated. Otherwise a file could be forwarded completely although the request is then
 * rejected.
 */
export class HeldFile extends PassThrough {
  /** Somebody reads it. */
  isOpen = false;
  private readonly source: Readable;
  private readonly onWaiting: () => void;
  private isInMemory = false;
  private isReleased = false;
  private finish: (() => void) | undefined;

  /** `onWaiting` is called when its reader has all bytes and waits for the next part. */
  constructor(name: string, source: Readable, onWaiting: () => void) {
    super();
    this.source = source;
    this.onWaiting = onWaiting;
    this.on('error', ignore);
    source.once('error', (error) => this.destroy(fileError(error, name)));
    source.once('close', () => {
      if (!source.readableEnded) this.destroy(fileError(source.errored ?? new Error('Unexpected end of file'), name));
    });
    this.once('close', () => {
      // A reader that stops early must not stop the parser.
      source.unpipe(this);
      source.resume();
    });
  }

  /** Its reader has all its bytes, but may not know yet that they are all. */
  get isWaiting(): boolean {
    return this.finish !== undefined && !this.isReleased;
  }

  open(): Readable {
    this.isOpen = true;
    return this.isInMemory ? this : this.source.pipe(this);
  }

  /** Reads a file that is not open into memory. */
  holdInMemory({ bytesBelow, take }: MemoryBound): void {
    if (this.isOpen || this.isInMemory) return;
    this.isInMemory = true;
    let size = 0;
    this.source.on('data', (chunk: Buffer) => {
      if (this.destroyed || size >= bytesBelow) return;
      size += chunk.length;
      if (!take(chunk.length)) this.write(chunk);
    });
    this.source.once('end', () => this.end());
  }

  release(): void {
    this.isReleased = true;
    this.finish?.();
  }

  /** Does nothing if the file is complete and the part that followed it was valid. */
  fail(error: Error): void {
    if (this.isReleased) return;
    this.destroy(error);
    this.source.destroy(error);
  }

  override _flush(done: TransformCallback): void {
    if (this.isReleased) return done();
    this.finish = done;
    this.onWaiting();
  }
}

/** For errors that are handled at `close`: without a listener they would end the process. */
export const ignore = (): void => undefined;
