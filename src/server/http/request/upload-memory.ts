/** Uploaded files in memory: those of all requests of this process share one bound, and each caller has a share of it. */
export class UploadMemory {
  bytes = 0;
  readonly fileBytesBelow: number;
  private readonly maxBytes: number;
  private readonly byCaller = new Map<string, number>();

  /** `fileBytesBelow`: the size that no file may have. */
  constructor(maxBytes: number, fileBytesBelow: number) {
    this.fileBytesBelow = fileBytesBelow;
    this.maxBytes = maxBytes;
  }

  /** Takes the bytes. Takes none and returns whose bound they exceed, if they do. */
  take(caller: string, bytes: number): 'caller' | 'process' | undefined {
    const taken = (this.byCaller.get(caller) ?? 0) + bytes;
    if (taken > this.maxBytes / CALLERS) return 'caller';
    if (this.bytes + bytes > this.maxBytes) return 'process';
    this.byCaller.set(caller, taken);
    this.bytes += bytes;
    return undefined;
  }

  release(caller: string, bytes: number): void {
    if (bytes === 0) return;
    const left = (this.byCaller.get(caller) ?? 0) - bytes;
    if (left > 0) this.byCaller.set(caller, left);
    else this.byCaller.delete(caller);
    this.bytes -= bytes;
  }
}

/** So many callers fill the memory together. */
const CALLERS = 4;
