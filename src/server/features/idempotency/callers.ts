/** How many requests with keys of one caller run and wait in this process. A waiting request holds no slot of the admission. */
import {
  type CancellationToken,
  addListener,
  cancel,
  createCancellationToken,
  removeListener,
  unlessCancelled,
} from '../../../lib/cancellation.ts';
import type { Parking } from '../../http/connections/admission.ts';
import { tooManyWrites } from './refusals.ts';
import type { Waiting } from './store/turns.ts';

/** The most of one caller that run, with those whose clients have left and whose writes go on. */
const RUNNING_MAX = 64;
const WAITING_MAX = 64;
/** The most that wait for one key, or for one target of writes. */
const WAITING_FOR_ONE_MAX = 16;

/** One wait. It ends when the request is cancelled, or has waited too long. */
export interface Wait extends Waiting {
  /** False if the wait is over before. */
  until: (event: Promise<void>) => Promise<boolean>;
  /** Takes a slot again if it has waited; rejects if there is none. Called in any case. Undefined if there was no wait. */
  end: () => Promise<void> | undefined;
}

export function createCallers(waitMs: number) {
  const running = createCounts();
  const waiting = createCounts();
  return {
    /** Whether the caller has as many running requests as it may have. */
    isBusy: (caller: string): boolean => running.of(caller) >= RUNNING_MAX,
    /** Returns what ends the run. */
    run: (caller: string): (() => void) => running.add(caller),
    /** Mostly it never begins. */
    wait(caller: string, what: string, operation: CancellationToken, parking: Parking | undefined): Wait {
      let begun: CancellationToken | undefined;
      let ends: (() => void)[] = [];
      return {
        get cancellation() {
          return begun ?? operation;
        },
        begin() {
          if (begun) return;
          if (waiting.of(caller) >= WAITING_MAX || waiting.of(what) >= WAITING_FOR_ONE_MAX) throw tooManyWrites();
          const cancellation = (begun = createCancellationToken());
          const listener = { onCancel: (reason: Error) => cancel(cancellation, reason) };
          addListener(operation, listener);
          const timer = setTimeout(() => cancel(cancellation, new Error('It has waited too long.')), waitMs);
          ends = [waiting.add(caller), waiting.add(what)];
          ends.push(
            () => clearTimeout(timer),
            () => removeListener(operation, listener),
          );
          parking?.release();
        },
        until: (event) => unlessCancelled(event, begun ?? operation),
        end() {
          if (!begun) return undefined;
          for (const end of ends) end();
          return operation.reason ? undefined : parking?.enter();
        },
      };
    },
  };
}

export type Callers = ReturnType<typeof createCallers>;

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
