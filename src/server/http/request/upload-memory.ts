import { HttpError } from '../response/http-error.ts';

/**
 * Uploads in memory: those of all requests of this process share one bound, and those of one caller half of it. A request reserves its whole
 * length before it is read, and waits for that, so that no two wait for each other.
 */
export class UploadMemory {
  bytes = 0;
  readonly fileBytesBelow: number;
  private readonly maxBytes: number;
  private readonly byCaller = new Map<string, number>();
  private readonly waiting = new Set<() => void>();

  /** `fileBytesBelow`: the size that no file may have. */
  constructor(maxBytes: number, fileBytesBelow: number) {
    this.fileBytesBelow = fileBytesBelow;
    this.maxBytes = maxBytes;
  }

  /** Returns what gives the bytes back. Rejects with an HttpError if they can never be free, or are not in time. */
  reserve(caller: string, bytes: number, withinMs: number): Promise<() => void> {
    if (bytes > this.maxBytes)
      throw new HttpError('UPLOAD_TOO_LARGE', 'The server has no memory for so large an upload.');
    return new Promise((resolve, reject) => {
      const enter = () => {
        const own = this.byCaller.get(caller) ?? 0;
        if (this.bytes + bytes > this.maxBytes || (own > 0 && own + bytes > this.maxBytes / 2)) return;
        this.waiting.delete(enter);
        clearTimeout(timer);
        this.add(caller, bytes);
        resolve(() => {
          this.add(caller, -bytes);
          for (const each of this.waiting) each();
        });
      };
      const timer = setTimeout(() => {
        this.waiting.delete(enter);
        const headers = { 'retry-after': '1' };
        reject(new HttpError('OVERLOADED', 'The server has no memory for the upload now.', { headers }));
      }, withinMs).unref();
      this.waiting.add(enter);
      enter();
    });
  }

  private add(caller: string, bytes: number): void {
    const left = (this.byCaller.get(caller) ?? 0) + bytes;
    if (left > 0) this.byCaller.set(caller, left);
    else this.byCaller.delete(caller);
    this.bytes += bytes;
  }
}
