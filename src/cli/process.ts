/** The life of the process: signals, and errors that nobody handles. */
import { format } from 'node:util';
import type { Logger } from 'pino';
import { UserError } from '../lib/user-error.ts';

export interface Closable {
  close(): Promise<void>;
}

/** Opens a port. The errors of a port that cannot be used name its setting. */
export async function openPort<T>(setting: string, port: number, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { cause = error } = error as Error;
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new UserError(`Port ${port} is in use. Set ${setting} to another.`);
    if (syscall === 'listen' || syscall === 'getaddrinfo') {
      throw new UserError(`Cannot listen on port ${port} (${code}). Check HOST and ${setting}.`);
    }
    throw error;
  }
}

/** Called before anything is opened, so that a signal during the start is handled too. The signal aborts the result. */
export function closeOnSignal(opened: Closable[], log: Logger): AbortSignal {
  const stopping = new AbortController();
  const close = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) process.exit(1); // the second signal ends the process at once
    stopping.abort();
    log.info({ signal }, 'stopping: running requests are finished');
    closeAll(opened).then(
      () => {
        log.info('stopped');
        exit(log, 0);
      },
      (error: unknown) => {
        log.error({ err: error }, 'closing failed');
        exit(log, 1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal); // the one of main.ts
    process.on(signal, close);
  }
  return stopping.signal;
}

/** How long the end waits for the reader of the log. */
const FLUSH_MS = 1_000;

function exit(log: Logger, code: number): void {
  setTimeout(() => process.exit(code), FLUSH_MS);
  log.flush(() => process.exit(code));
}

/** In order: the facade comes before the origin, which it may still call. A start that still runs may open more meanwhile. */
export async function closeAll(opened: Closable[]): Promise<void> {
  for (let next = opened.shift(); next; next = opened.shift()) await next.close();
}

/** What libraries and Node write plainly on stderr becomes lines of the log. */
export function logPlainWarnings(log: Logger): void {
  for (const level of ['warn', 'error'] as const) console[level] = (...parts) => log[level](format(...parts));
  process.removeAllListeners('warning').on('warning', (warning) => log.warn({ err: warning }, warning.message));
}

/**
 * Logs unhandled errors. An unhandled rejection concerns one request, so the process goes on and other requests are not lost. After an
 * uncaught exception the state of the process is unknown, so it ends.
 */
export function logUnhandledErrors(log: Logger): void {
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'unhandled promise rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception: the process ends');
    exit(log, 1);
  });
}
