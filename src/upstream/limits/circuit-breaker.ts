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
  let openUntil = 0;
  let lastSuccess = -Infinity;
  /** The single call after a pause: the operation that makes it, and what waits for its end. */
  let trial: { owner: object; waiting: (() => void)[] } | undefined;

  const permit = (isTrial: boolean): BreakerPermit => {
    function release(): void {
      if (!isTrial) return;
      trial?.waiting.forEach((resolve) => resolve());
      trial = undefined;
    }
    return {
      release,
      onSuccess() {
        release();
        const wasOpen = failures >= breakerFailures;
        failures = 0;
        lastSuccess = performance.now();
        pauseMs = breakerPauseMs;
        if (wasOpen) onChange(undefined);
      },
      onFailure(reason, begun) {
        release();
        // One endpoint that hangs is not the service: others have responded meanwhile.
        if (begun < lastSuccess) return;
        failures++;
        const opens = failures === breakerFailures;
        // Ordinary calls that were already sent when it opened show nothing new.
        if (!opens && !(isTrial && failures > breakerFailures)) return;
        if (opens) onChange(reason);
        else pauseMs = Math.min(maxBreakerPauseMs, pauseMs * 2);
        openUntil = performance.now() + pauseMs;
      },
    };
  };
  const [ordinary, ofTrial] = [permit(false), permit(true)];

  return {
    isOpen: () => failures >= breakerFailures,
    /** How long it stays open at the least; 1 during a trial. */
    secondsLeft: () => Math.max(1, Math.ceil((openUntil - performance.now()) / 1000)),
    /** undefined while it is open. After the pause, a single call gets a permit, as a trial. */
    acquire(owner: object): BreakerPermit | undefined {
      if (failures < breakerFailures) return ordinary;
      if (trial || performance.now() < openUntil) return undefined;
      trial = { owner, waiting: [] };
      return ofTrial;
    },
    /** Resolves at the end of the trial, if a call of this operation is it: its other fields must not fail beside one that succeeds. */
    endOfTrial: (owner: object): Promise<void> | undefined =>
      trial?.owner === owner ? new Promise((resolve) => trial!.waiting.push(resolve)) : undefined,
  };
}
