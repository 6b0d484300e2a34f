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

export class RefreshQueue {
  private readonly queued = new Map<string, Queued>();
  /** Credentials after a failure, and until when. */
  private readonly paused = new Map<string, number>();
  private readonly isBusy: (service: Refresh['service']) => boolean;
  private running = 0;
  private readonly counts = { ok: 0, failed: 0 };
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(isBusy: (service: Refresh['service']) => boolean) {
    this.isBusy = isBusy;
  }

  /** `credential`: by its id. `open` is called if the entry's turn comes. */
  add(credential: string, refresh: Refresh, open: () => Background): void {
    const id = `${credential} ${refresh.id}`;
    const known = this.queued.get(id);
    if (known) known.reads++;
    else if (this.queued.size < QUEUED_MAX && !this.isClosed && !this.isPaused(credential))
      this.queued.set(id, { ...refresh, id, credential, open, reads: 1 });
    if (this.queued.size > 0) this.later(0);
  }

  /** Entries that wait. */
  size(): number {
    return this.queued.size;
  }

  /** Those that have run, by outcome. */
  ended(): Readonly<Record<'ok' | 'failed', number>> {
    return this.counts;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.queued.clear();
  }

  private later(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.pump();
    }, ms).unref();
  }

  private pump(): void {
    while (this.running < RUNNING_MAX && this.queued.size > 0) {
      const next = [...this.queued.values()].reduce((most, each) => (each.reads > most.reads ? each : most));
      if (this.isBusy(next.service)) return this.later(BUSY_MS);
      this.queued.delete(next.id);
      if (this.isPaused(next.credential)) continue;
      this.running++;
      void this.run(next);
    }
  }

  private async run(refresh: Queued): Promise<void> {
    const { context, hasFailed } = refresh.open();
    try {
      await refresh.run(context);
    } catch {
      // The entry is served until its time is over; then its readers see the error.
    }
    this.running--;
    if (this.paused.size > QUEUED_MAX) this.paused.clear();
    const failed = hasFailed();
    this.counts[failed ? 'failed' : 'ok']++;
    if (failed) this.paused.set(refresh.credential, performance.now() + PAUSE_MS);
    if (this.queued.size > 0) this.later(0);
  }

  private isPaused(credential: string): boolean {
    const until = this.paused.get(credential);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.paused.delete(credential);
    return false;
  }
}
