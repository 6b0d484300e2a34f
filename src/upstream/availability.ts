/** What goes away and comes back is told once each time, whoever listens. */

/** Told with a reason when it went away, without one when it is back. */
export type OnAvailabilityChange = (who: 'catalog' | 'event' | 'redis', reason: string | undefined) => void;

export interface AvailabilityMonitor {
  /** It answered. */
  onSuccess: () => void;
  /** It did not; `isSure`: that it is gone needs no further proof. */
  onFailure: (reason: string, isSure?: boolean) => void;
}

/** Late now and then is not away: so often in a row it is. */
const MISSES = 3;

export function createAvailabilityMonitor(tell: (reason: string | undefined) => void): AvailabilityMonitor {
  let misses = 0;
  return {
    onSuccess() {
      if (misses >= MISSES) tell(undefined);
      misses = 0;
    },
    onFailure(reason, isSure = false) {
      if (misses >= MISSES) return;
      misses = isSure ? MISSES : misses + 1;
      if (misses >= MISSES) tell(reason);
    },
  };
}

/** The name by which the system or a library calls what went wrong. Never its text, which may hold an address with a password. */
export function errorCodeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return code ?? name;
}
