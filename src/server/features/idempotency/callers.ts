/** How many requests with keys of one sender run and wait in this process. A waiting request holds no slot of the admission. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CancellationToken, unlessCancelled } from '../../../lib/cancellation.ts';
import type { Parking } from '../../http/connections/admission.ts';
import { inProgress, tooManyWrites } from './refusals.ts';

/** The most of one sender that run, with those whose clients have left and whose writes go on. */
const RUNNING_MAX = 64;
const WAITING_MAX = 64;
/** The most that wait for one key. */
const WAITING_FOR_ONE_MAX = 16;
/** How often a waiting request looks again: another process does not say what it has ended. */
const LOOK_MS = 50;

/** A request that may have to wait. */
export interface Waiter {
  readonly caller: string;
  readonly cancellation: CancellationToken;
  readonly parking: Parking | undefined;
}

export type Callers = ReturnType<typeof createCallers>;

export function createCallers(waitMs: number) {
  const running = createCounts();
  const waiting = createCounts();
  return {
    /** Whether the caller has as many running requests as it may have. */
    isBusy: (caller: string): boolean => running.of(caller) >= RUNNING_MAX,
    /** Returns what ends the run. */
    run: (caller: string): (() => void) => running.add(caller),
    /**
     * Looks until what it looks for is free. `what`: names what is waited for. `giveBack`: called with what was found if there is no slot of the
     * admission for the request after its wait.
     */
    async untilFree<Found extends { readonly kind: string }>(
      { caller, cancellation, parking }: Waiter,
      what: string,
      { look, giveBack }: { look: () => Promise<Found | undefined>; giveBack: (found: Found) => Promise<unknown> },
    ): Promise<Found | undefined> {
      let found = await look();
      if (found?.kind !== 'held') return found;
      if (waiting.of(caller) >= WAITING_MAX || waiting.of(what) >= WAITING_FOR_ONE_MAX) throw tooManyWrites();
      const ends = [waiting.add(caller), waiting.add(what)];
      const until = performance.now() + waitMs;
      parking?.release();
      try {
        while (found?.kind === 'held') {
          await unlessCancelled(sleep(LOOK_MS), cancellation);
          if (cancellation.reason || performance.now() > until) throw inProgress();
          found = await look();
        }
      } finally {
        for (const end of ends) end();
      }
      await parking?.enter().catch(async (error: unknown) => {
        if (found) await giveBack(found);
        throw error;
      });
      return found;
    },
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add(name: string): () => void {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return () => {
        const left = counts.get(name)! - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      };
    },
  };
}
