/**
 * How many operations run at once. More than can be done is refused early and cheaply, so that what was taken is finished.
 * It counts operations, never the calls of one: an operation that runs is never held up by others that do not.
 */
import type { Config } from '../config.ts';
import { RequestRefusal } from './refusal.ts';

export interface Admission {
  /** Throws where there is no room: asked before a body is read. */
  refuseFull: () => void;
  /** Resolves, with what must be called when the answer is out, as soon as the operation may run. */
  enter: (signal: AbortSignal) => Promise<() => void>;
  running: () => number;
  waiting: () => number;
}

export type AdmissionSettings = Pick<
  Config,
  'maxRunningOperations' | 'maxWaitingOperations' | 'maxBusyMs' | 'operationTimeoutMs'
>;

const RETRY_AFTER_SECONDS = '1';

export function createAdmission(settings: AdmissionSettings): Admission {
  const { maxRunningOperations, maxWaitingOperations, maxBusyMs, operationTimeoutMs } = settings;
  const queue = new Set<() => void>();
  let running = 0;
  let busySince: number | undefined;

  /**
   * Operations that only reckon never wait, so their number says nothing: what grows is the pile of requests read in one turn of the
   * event loop. Each turn takes on work for so long, and refuses the rest of its pile.
   */
  const isBusy = () => {
    if (busySince === undefined) {
      busySince = performance.now();
      setImmediate(() => (busySince = undefined));
    }
    return performance.now() - busySince > maxBusyMs;
  };

  const refuseCrowd = () => {
    if (running >= maxRunningOperations && queue.size >= maxWaitingOperations) throw overloaded();
  };
  const refuseFull = () => {
    if (isBusy()) throw overloaded();
    refuseCrowd();
  };

  return {
    refuseFull,
    running: () => running,
    waiting: () => queue.size,
    // An async function, so that a refusal is a rejection.

    async enter(signal) {
      if (signal.aborted) throw left();
      refuseCrowd();
      if (running < maxRunningOperations && queue.size === 0) return begun();
      return new Promise((resolve, reject) => {
        const settle = () => {
          clearTimeout(clock);
          signal.removeEventListener('abort', leave);
          queue.delete(begin);
        };
        const refuse = () => {
          settle();
          reject(overloaded());
        };
        const leave = () => {
          settle();
          reject(left());
        };
        const begin = () => {
          settle();
          resolve(begun());
        };
        const clock = setTimeout(refuse, operationTimeoutMs);
        signal.addEventListener('abort', leave, { once: true });
        queue.add(begin);
      });
    },
  };

  function begun(): () => void {
    running++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      running--;
      for (const begin of queue) {
        if (running >= maxRunningOperations) return;
        begin();
      }
    };
  }
}

/** Nobody reads it. */
const left = () => new RequestRefusal(499, 'CLIENT_LEFT', 'The client has left.');

const overloaded = () =>
  new RequestRefusal(503, 'OVERLOADED', 'More is asked than can be done. Try again in a moment.', {
    'retry-after': RETRY_AFTER_SECONDS,
  });
