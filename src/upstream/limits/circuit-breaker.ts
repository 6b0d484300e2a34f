/** Keeps a dead service from costing every caller a timeout. */

export interface CircuitBreakerSettings {
  /** Connection faults and timeouts in a row until it opens. */
  breakerFailures: number;
  /** How long it first stays open; twice as long after each trial that fails. */
  breakerPauseMs: number;
  maxBreakerPauseMs: number;
}

/** What became of one call: exactly one of these is told, once. */
export interface BreakerPermit {
  /** The service answered, whatever it said. */
  onSuccess: () => void;
  /** No connection, or no answer in time. */
  onFailure: (reason?: string) => void;
  /** It ended on our side, and tells nothing of the service. */
  release: () => void;
}

export interface CircuitBreaker {
  /** Lets a call through, or not: undefined. Past the pause a single call is let through, to try. */
  acquire: () => BreakerPermit | undefined;
  /** Whether `pass` would let nothing through now. */
  isRefusing: () => boolean;
  isOpen: () => boolean;
}

/** `changed` is told with a reason when it opens, without one when it closes. */
export function createCircuitBreaker(
  { breakerFailures, breakerPauseMs, maxBreakerPauseMs }: CircuitBreakerSettings,
  changed: (reason: string | undefined) => void = () => undefined,
): CircuitBreaker {
  let failures = 0;
  let pauseMs = breakerPauseMs;
  let openUntil = 0;
  let trying = false;

  const isOpen = () => failures >= breakerFailures;

  const isRefusing = () => isOpen() && (trying || performance.now() < openUntil);

  /** Of an ordinary call, and of one that tries whether the service is back. */
  const passages = { ordinary: passage(false), trial: passage(true) };

  return {
    isOpen,
    isRefusing,
    acquire() {
      if (isRefusing()) return undefined;
      if (!isOpen()) return passages.ordinary;
      trying = true;
      return passages.trial;
    },
  };

  function passage(isTrial: boolean): BreakerPermit {
    const settle = () => {
      if (isTrial) trying = false;
    };
    return {
      onSuccess() {
        settle();
        const wasOpen = isOpen();
        failures = 0;
        pauseMs = breakerPauseMs;
        if (wasOpen) changed(undefined);
      },
      onFailure(reason = 'unknown') {
        settle();
        const wasOpen = isOpen();
        failures++;
        // Those that were on their way when it opened say nothing new.
        if (!isOpen() || (wasOpen && !isTrial)) return;
        if (isTrial) pauseMs = Math.min(maxBreakerPauseMs, pauseMs * 2);
        openUntil = performance.now() + pauseMs;
        if (!wasOpen) changed(reason);
      },
      release: settle,
    };
  }
}
