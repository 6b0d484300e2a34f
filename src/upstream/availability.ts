/** Reports once that a service is unreachable, and once that it is reachable again. */
import type { ServiceName } from '../api/endpoint.ts';

type Monitored = ServiceName | 'redis' | 'redis of idempotency keys';

/** `reason` is undefined if it is reachable again. */
export type OnAvailabilityChange = (service: Monitored, reason: string | undefined) => void;

/** `reason` is undefined if it is reachable again. */
export type ReportAvailability = (reason: string | undefined) => void;

export type AvailabilityMonitor = ReturnType<typeof createAvailabilityMonitor>;

/** Failures in a row after which it counts as unreachable: a single one may be a delay. */
const FAILURES = 3;

export function createAvailabilityMonitor(onChange: ReportAvailability) {
  let failures = 0;
  return {
    onSuccess(): void {
      if (failures >= FAILURES) onChange(undefined);
      failures = 0;
    },
    /** `isSure`: one failure is proof enough. */
    onFailure(reason: string, isSure = false): void {
      if (failures >= FAILURES) return;
      failures = isSure ? FAILURES : failures + 1;
      if (failures >= FAILURES) onChange(reason);
    },
  };
}

/** The code of a system error, or the name of another. Never the message, which may contain an address with a password. */
export function errorCodeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return code ?? name;
}
