/**
 * How many requests with keys of one caller run and wait in this process. A waiting request holds no slot of the admission, unless an agent
 * sent it: agents have a share of the slots.
 */
import {
  type CancellationToken,
  addListener,
  cancel,
  createCancellationToken,
  removeListener,
} from '../../../lib/cancellation.ts';
import type { Parking } from '../../http/connections/admission.ts';
import { inProgress, tooManyWrites, unavailable } from './refusals.ts';
import type { Waiting } from './store/entry-table.ts';

/** The most of one caller that run, with those whose clients have left and whose writes go on. */
const RUNNING_MAX = 64;
const WAITING_MAX = 64;
/** The most that wait for one key, or for one target of writes. */
const WAITING_FOR_ONE_MAX = 16;

/** A request that may have to wait. */
export interface Waiter {
  readonly caller: string;
  readonly cancellation: CancellationToken;
  readonly parking: Parking | undefined;
}

/** Takes something that others may hold. */
export type Take = <Taken>(
  what: string,
  take: (waiting: Waiting) => Promise<Taken | undefined>,
  giveBack: (taken: Taken) => unknown,
) => Promise<Taken>;

export type Callers = ReturnType<typeof createCallers>;

export function createCallers(waitMs: number) {
  const running = createCounts();
  const waiting = createCounts();

  /** What the wait is, from `begin` on: it ends with the request, or if it takes too long. */
  function createWait({ caller, cancellation: operation, parking }: Waiter, what: string) {
    let ends: (() => void)[] | undefined;
    const wait = {
      cancellation: operation,
      begin() {
        if (waiting.of(caller) >= WAITING_MAX || waiting.of(what) >= WAITING_FOR_ONE_MAX) throw tooManyWrites();
        const own = (wait.cancellation = createCancellationToken());
        const listener = { onCancel: (reason: Error) => cancel(own, reason) };
        addListener(operation, listener);
        const timer = setTimeout(() => cancel(own, new Error('It has waited too long.')), waitMs);
        ends = [waiting.add(caller), waiting.add(what), () => removeListener(operation, listener)];
        ends.push(() => clearTimeout(timer));
        parking?.release();
      },
      /** Takes a slot again if it has waited. */
      end() {
        ends?.forEach((end) => end());
        return ends && !operation.reason ? parking?.enter() : undefined;
      },
    };
    return wait;
  }

  return {
    /** Whether the caller has as many running requests as it may have. */
    isBusy: (caller: string): boolean => running.of(caller) >= RUNNING_MAX,
    /** Returns what ends the run. */
    run: (caller: string): (() => void) => running.add(caller),
    /** `giveBack`: called if there is no slot for the request after its wait. */
    takeFor: (waiter: Waiter): Take =>
      async function take(what, take, giveBack) {
        const wait = createWait(waiter, what);
        let taken: Awaited<ReturnType<typeof take>>;
        try {
          taken = await take(wait);
        } finally {
          await wait.end()?.catch(async (error: unknown) => {
            if (taken !== undefined) await giveBack(taken);
            throw error;
          });
        }
        if (taken === undefined) throw wait.cancellation.reason ? inProgress() : unavailable();
        return taken;
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
