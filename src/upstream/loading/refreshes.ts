/** Refreshes what is served after its time: few entries at once, and none while a call of the service waits. A later reader refreshes what finds no room. */
import { setImmediate as afterTurn, setTimeout as sleep } from 'node:timers/promises';
import type { LoadContext, Refresh } from './load-context.ts';

/** Its calls so far. */
interface Calls {
  readonly callLog: { readonly calls: readonly { readonly error?: string }[] };
}

const RUNNING_MAX = 4;
/** After a failure or a refusal an entry keeps its place for so long: a service that fails is not asked again and again. */
const PAUSE_MS = 1_000;

export function createRefreshes(isBusy: (service: Refresh['service']) => boolean) {
  const running = new Set<string>();

  /** `credential`: by its id. `open` is called if the entry is refreshed. */
  return async (credential: string, { id, service, run }: Refresh, open: () => LoadContext & Calls): Promise<void> => {
    const name = `${credential} ${id}`;
    if (running.has(name) || running.size >= RUNNING_MAX) return;
    running.add(name);
    await afterTurn(); // calls that somebody needs are made first
    if (!isBusy(service)) {
      const context = open();
      try {
        await run(context);
      } catch {
        // The entry is served until its time is over; then its readers see the error.
      }
      const hasFailed = context.callLog.calls.some(({ error }) => error !== undefined);
      if (hasFailed) await sleep(PAUSE_MS, undefined, { ref: false });
    }
    running.delete(name);
  };
}
