/**
 * How many calls a service gets at once: few while they are quick, more while calls wait.
 *
 * A burst of quick calls is as fast over a few connections and easier on the service; slow ones must not hold up the rest.
 */

export interface GateSettings {
  maxConnections: number;
  maxBusyConnections: number;
}

export interface Gate {
  /** Resolves, with what must be called when the call is over, as soon as it may begin. Rejects when the signal fires. */
  enter: (signal: AbortSignal) => Promise<() => void>;
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
    enter(signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (running < maxConnections && queue.size === 0) return Promise.resolve(begun());
      return new Promise((resolve, reject) => {
        const settle = () => {
          clearTimeout(patience);
          signal.removeEventListener('abort', leave);
          queue.delete(waiter);
        };
        const leave = () => {
          settle();
          reject(signal.reason as Error);
        };
        const waiter: Waiter = {
          isImpatient: false,
          begin() {
            settle();
            resolve(begun());
          },
        };
        const patience = setTimeout(() => {
          waiter.isImpatient = true;
          pump();
        }, PATIENCE_MS);
        signal.addEventListener('abort', leave, { once: true });
        queue.add(waiter);
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
      pump();
    };
  }

  /** The oldest first; none is more impatient than the oldest. */
  function pump(): void {
    for (const waiter of queue) {
      if (running >= (waiter.isImpatient ? maxBusyConnections : maxConnections)) return;
      waiter.begin();
    }
  }
}
