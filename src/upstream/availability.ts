/** What is reported when a service becomes unreachable, and when it is reachable again. */
import type { ServiceName } from '../api/endpoint.ts';

type Monitored = ServiceName | 'redis' | 'redis of idempotency keys';

/** `reason` is undefined if it is reachable again. */
export type OnAvailabilityChange = (service: Monitored, reason: string | undefined) => void;

/** `reason` is undefined if it is reachable again. */
export type ReportAvailability = (reason: string | undefined) => void;

/** The code of a system error, or the name of another. Never the message, which may contain an address with a password. */
export function errorCodeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return code ?? name;
}
