/** Circuit breaker: while a service is down, calls fail at once instead of waiting for a timeout. */
import type { Config } from '../../config/settings.ts';

/** For one call. Exactly one of its functions is called, once. */
export interface BreakerPermit {
  /** The service responded, whatever the response. */
  onSuccess: () => void;
  /** No connection, or no response in time. `begun`: when the call began, by performance.now(). */
  onFailure: (reason: string, begun: number) => void;
  /** The call ended on our side, which shows nothing about the service. */
  release: () => void;
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** `onChange` is called with a reason when it opens, without one when it closes. */
export function createCircuitBreaker(
  {
    breakerFailures,
    breakerPauseMs,
    maxBreakerPauseMs,
  }: Pick<Config, 'breakerFailures' | 'breakerPauseMs' | 'maxBreakerPauseMs'>,
  onChange: (reason: string | undefined) => void,
) {
  let failures = 0;
  let pauseMs = breakerPauseMs;
  let openedAt = -Infinity;
  let lastSuccess = -Infinity;
  /** The operation that tries again after a pause. */
  let trial: object | undefined;

  const permit: BreakerPermit = {
    onSuccess() {
      const wasOpen = failures >= breakerFailures;
      failures = 0;
      lastSuccess = performance.now();
      pauseMs = breakerPauseMs;
      trial = undefined;
      if (wasOpen) onChange(undefined);
    },
    onFailure(reason, begun) {
      // One endpoint that hangs is not the service, and calls that were sent before it opened show nothing new.
      if (begun < lastSuccess || begun <= openedAt) return;
      failures++;
      if (failures < breakerFailures) return;
      if (failures === breakerFailures) onChange(reason);
      else pauseMs = Math.min(maxBreakerPauseMs, pauseMs * 2);
      openedAt = performance.now();
      trial = undefined;
    },
    release() {
      trial = undefined;
    },
  };

  return {
    isOpen: () => failures >= breakerFailures,
    /** How long it stays open at the least; 1 during a trial. */
    secondsLeft: () => Math.max(1, Math.ceil((openedAt + pauseMs - performance.now()) / 1000)),
    /** undefined while it is open. After the pause the calls of one operation get permits: its fields must not fail beside one that succeeds. */
    acquire(owner: object): BreakerPermit | undefined {
      if (failures < breakerFailures) return permit;
      if (performance.now() < openedAt + pauseMs || (trial ?? owner) !== owner) return undefined;
      trial = owner;
      return permit;
    },
  };
}
