/** What goes away and comes back is told once each time, whoever listens. */

/** Told with a reason when it went away, without one when it is back. */
export type OnOutage = (who: 'catalog' | 'event' | 'redis', reason: string | undefined) => void;

export interface Presence {
  /** It answered. */
  here: () => void;
  /** It did not; `isSure`: that it is gone needs no further proof. */
  missing: (reason: string, isSure?: boolean) => void;
}

/** Late now and then is not away: so often in a row it is. */
const MISSES = 3;

export function createPresence(tell: (reason: string | undefined) => void): Presence {
  let misses = 0;
  return {
    here() {
      if (misses >= MISSES) tell(undefined);
      misses = 0;
    },
    missing(reason, isSure = false) {
      if (misses >= MISSES) return;
      misses = isSure ? MISSES : misses + 1;
      if (misses >= MISSES) tell(reason);
    },
  };
}

/** The name by which the system or a library calls what went wrong. Never its text, which may hold an address with a password. */
export function reasonOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return code ?? name;
}
