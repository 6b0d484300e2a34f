/** Circuit breaker: while a service is down, calls fail at once instead of waiting for a timeout. */
import type { Config } from '../../config/settings.ts';

/** For one call. Exactly one of its functions is called, once. */
export interface BreakerPermit {
  /** The service responded, whatever the response. */
  onSuccess: () => void;
  /** No connection, or no response in time. */
  onFailure: (reason?: string) => void;
  /** The call ended on our side, which shows nothing about the service. */
  release: () => void;
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** `onChange` is called with a reason when it opens, without one when it closes. */
export function createCircuitBreaker(
  { breakerFailures, breakerPauseMs, maxBreakerPauseMs }: Config,
  onChange: (reason: string | undefined) => void = () => undefined,
) {
  let failures = 0;
  let pauseMs = breakerPauseMs;
  let openUntil = 0;
  let isTrying = false;
  const createPermit = (isTrial: boolean): BreakerPermit => ({
    onSuccess() {
      if (isTrial) isTrying = false;
      const wasOpen = failures >= breakerFailures;
      failures = 0;
      pauseMs = breakerPauseMs;
      if (wasOpen) onChange(undefined);
    },
    onFailure(reason = 'unknown') {
      if (isTrial) isTrying = false;
      failures++;
      const opens = failures === breakerFailures;
      // Ordinary calls that were already sent when it opened show nothing new.
      if (!opens && !(isTrial && failures > breakerFailures)) return;
      if (opens) onChange(reason);
      else pauseMs = Math.min(maxBreakerPauseMs, pauseMs * 2);
      openUntil = performance.now() + pauseMs;
    },
    release() {
      if (isTrial) isTrying = false;
    },
  });
  const ordinary = createPermit(false);
  const trial = createPermit(true);

  return {
    isOpen: () => failures >= breakerFailures,
    /** undefined while it is open. After the pause, a single call gets a permit, as a trial. */
    acquire(): BreakerPermit | undefined {
      if (failures < breakerFailures) return ordinary;
      if (isTrying || performance.now() < openUntil) return undefined;
      isTrying = true;
      return trial;
    },
  };
}
