/** Watches the content of a file by looking at it each second: events of the system are lost on network file systems and at renames. */
import { readFile, stat } from 'node:fs/promises';

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

/**
 * A file that is replaced by a rename, or that is behind a link which is (as Kubernetes mounts secrets), is another file: it is found by its
 * path at each look. The timer does not keep the process alive.
 */
export function watchFile(path: string, options: FileWatchOptions): FileWatch {
  const { onChange, onUnreadable, everyMs = EVERY_MS } = options;
  let { current } = options;
  /** The state of the file at the last look, and that of the content in use. */
  let seen: string | undefined;
  let used: string | undefined;
  let isUnreadable = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const before = await stateOf(path);
    const isSettled = before === seen;
    seen = before;
    if (isClosed || !isSettled || before === used) return;
    const content = await readFile(path, 'utf8');
    if (isClosed || (await stateOf(path)) !== before) return;
    used = before;
    isUnreadable = false;
    if (content === current) return;
    current = content;
    onChange(content);
  }

  function onError(error: unknown): void {
    seen = used = undefined;
    if (!isUnreadable && !isClosed) onUnreadable?.((error as NodeJS.ErrnoException).code ?? 'unknown');
    isUnreadable = true;
  }

  /** One look at a time: a file system may not answer. */
  const check = (): Promise<void> =>
    (looking ??= look()
      .catch(onError)
      .finally(() => (looking = undefined)));

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

/** Changes with every write and every rename; in ns, because two writes may be within one ms. */
async function stateOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
