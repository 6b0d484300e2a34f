/**
 * Refreshes what is served after its time, only with calls that nobody needs: while no call of the service waits, within the part of the
 * rate limit that nobody uses, the most read entries first.
 */
import type { LoadContext, Refresh } from './load-context.ts';

/** What refreshes with one credential. */
export interface Background {
  context: LoadContext;
  /** Whether a call failed or was refused. */
  hasFailed: () => boolean;
}

interface Queued extends Refresh {
  credential: string;
  open: () => Background;
  /** How often it was read since it was queued. */
  reads: number;
}

const QUEUED_MAX = 1_000;
const RUNNING_MAX = 4;
/** After a failure or a refusal nothing is refreshed with the credential. */
const PAUSE_MS = 1_000;
const BUSY_MS = 50;

export function createRefreshQueue(isBusy: (service: Refresh['service']) => boolean) {
  const queued = new Map<string, Queued>();
  /** Credentials after a failure, and until when. */
  const paused = new Map<string, number>();
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function later(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      pump();
    }, ms).unref();
  }

  function pump(): void {
    while (running < RUNNING_MAX && queued.size > 0) {
      const next = [...queued.values()].reduce((most, each) => (each.reads > most.reads ? each : most));
      if (isBusy(next.service)) return later(BUSY_MS);
      queued.delete(next.id);
      if (isPaused(next.credential)) continue;
      running++;
      void run(next);
    }
  }

  async function run(refresh: Queued): Promise<void> {
    const { context, hasFailed } = refresh.open();
    try {
      await refresh.run(context);
    } catch {
      // The entry is served until its time is over; then its readers see the error.
    }
    running--;
    if (paused.size > QUEUED_MAX) paused.clear();
    if (hasFailed()) paused.set(refresh.credential, performance.now() + PAUSE_MS);
    if (queued.size > 0) later(0);
  }

  function isPaused(credential: string): boolean {
    const until = paused.get(credential);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    paused.delete(credential);
    return false;
  }

  return {
    /** `credential`: by its id. `open` is called if the entry's turn comes. */
    add(credential: string, refresh: Refresh, open: () => Background): void {
      const id = `${credential} ${refresh.id}`;
      const known = queued.get(id);
      if (known) known.reads++;
      else if (queued.size < QUEUED_MAX && !isClosed && !isPaused(credential))
        queued.set(id, { ...refresh, id, credential, open, reads: 1 });
      if (queued.size > 0) later(0);
    },
    /** Entries that wait. */
    size: () => queued.size,
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      queued.clear();
    },
  };
}
