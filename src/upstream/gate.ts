/**
 * How many calls a service gets at once: few while they are quick, more while calls wait.
 *
 * A burst of quick calls is as fast over a few connections and easier on the service; slow ones must not hold up the rest.
 */
import { type Ticking, type Timed, createClock } from './clock.ts';
import { type Place, createLine, join, leave } from './line.ts';

export interface GateSettings {
  maxConnections: number;
  maxBusyConnections: number;
}

export interface Gate {
  /** Undefined where a call may begin; else its place in the line: `begin` is called when it may, unless it gives up. Who is in must leave. */
  enter: (begin: () => void) => Waiting | undefined;
  /** False where it was let in already. */
  giveUp: (waiting: Waiting) => boolean;
  leave: () => void;
  running: () => number;
  waiting: () => number;
}
export type Waiting = Place<Waiter>;

/** Having waited this long, a call may use a connection past the calm number. */
const PATIENCE_MS = 50;

interface Waiter extends Timed {
  begin: () => void;
  isImpatient: boolean;
  patience: Ticking | undefined;
}

export function createGate({ maxConnections, maxBusyConnections }: GateSettings): Gate {
  const line = createLine<Waiter>();
  const clock = createClock(PATIENCE_MS);
  let running = 0;

  /** The oldest first; none is more impatient than the oldest. */
  function pump(): void {
    while (line.first) {
      const waiter = line.first.who;
      if (running >= (waiter.isImpatient ? maxBusyConnections : maxConnections)) return;
      quit(line.first);
      running++;
      waiter.begin();
    }
  }
  function quit(place: Waiting): boolean {
    if (place.who.patience) clock.stop(place.who.patience);
    return leave(line, place);
  }
  function overdue(this: Waiter): void {
    this.isImpatient = true;
    pump();
  }

  return {
    running: () => running,
    waiting: () => line.size,
    enter(begin) {
      if (running < maxConnections && line.size === 0) {
        running++;
        return undefined;
      }
      const waiter: Waiter = { begin, isImpatient: false, patience: undefined, overdue };
      waiter.patience = clock.start(waiter);
      return join(line, waiter);
    },
    giveUp: quit,
    leave() {
      running--;
      if (line.size > 0) pump();
    },
  };
}
