/** Watches the content of a small file by reading it each second: events of the system are lost on network file systems and at renames. */
import { readFile } from 'node:fs/promises';

export interface FileWatch {
  /** Looks at the file now, as the timer does. */
  check: () => Promise<void>;
  close: () => void;
}

export interface FileWatchOptions {
  /** The content that is in use. */
  current: string;
  /** Called with a new content, once it has been the same for two looks: a writer may be in the middle of the file. */
  onChange: (content: string) => void;
  /** Called once when the file cannot be read, with the code of the error. What was read before stays in use. */
  onUnreadable?: (code: string) => void;
  everyMs?: number;
}

const EVERY_MS = 1_000;

/** The timer does not keep the process alive. */
export function watchFile(path: string, options: FileWatchOptions): FileWatch {
  const { onChange, onUnreadable, everyMs = EVERY_MS } = options;
  let { current } = options;
  /** What the last look found; undefined if the file could not be read. */
  let seen: string | undefined = current;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function check(): Promise<void> {
    let failure = '';
    const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      failure = error.code ?? 'unknown';
      return undefined;
    });
    if (isClosed) return;
    const before = seen;
    seen = content;
    if (content === undefined && before !== undefined) onUnreadable?.(failure);
    if (content === undefined || content !== before || content === current) return;
    current = content;
    onChange(content);
  }

  function next(): void {
    timer = setTimeout(() => void check().finally(() => isClosed || next()), everyMs).unref();
  }
  next();

  return {
    check,
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
