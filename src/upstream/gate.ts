/**
 * How many calls a service gets at once: few while they are quick, more while calls wait.
 *
 * A burst of quick calls is as fast over a few connections and easier on the service; slow ones must not hold up the rest.
 */
import { type Lifetime, offEnd, onEnd } from './lifetime.ts';

export interface GateSettings {
  maxConnections: number;
  maxBusyConnections: number;
}

export interface Gate {
  /** Undefined where a call may begin; else resolves when it may. Rejects when the lifetime ends. Who is in must leave. */
  enter: (lifetime: Lifetime) => Promise<void> | undefined;
  leave: () => void;
  running: () => number;
  waiting: () => number;
}

/** Having waited this long, a call may use a connection past the calm number. */
const PATIENCE_MS = 50;

interface Waiter {
  begin: () => void;
  isImpatient: boolean;
}

export function createGate({ maxConnections, maxBusyConnections }: GateSettings): Gate {
  const queue = new Set<Waiter>();
  let running = 0;

  return {
    running: () => running,
    waiting: () => queue.size,
    enter(lifetime) {
      if (lifetime.ended) return Promise.reject(lifetime.ended);
      if (running < maxConnections && queue.size === 0) {
        running++;
        return undefined;
      }
      return waited(lifetime);
    },
    leave() {
      running--;
      pump();
    },
  };

  function waited(lifetime: Lifetime): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(patience);
        offEnd(lifetime, leave);
        queue.delete(waiter);
      };
      const leave = (reason: Error) => {
        settle();
        reject(reason);
      };
      const waiter: Waiter = {
        isImpatient: false,
        begin() {
          settle();
          running++;
          resolve();
        },
      };
      const patience = setTimeout(() => {
        waiter.isImpatient = true;
        pump();
      }, PATIENCE_MS);
      onEnd(lifetime, leave);
      queue.add(waiter);
    });
  }

  /** The oldest first; none is more impatient than the oldest. */
  function pump(): void {
    for (const waiter of queue) {
      if (running >= (waiter.isImpatient ? maxBusyConnections : maxConnections)) return;
      waiter.begin();
    }
  }
}
