/**
 * What is wrong with one Redis, by cause: its connection, or a kind of call. What lasts is reported: once when the first cause begins, and
 * once when the last one ends.
 */
import type { ReportAvailability } from '../../availability.ts';

export type Outages = ReturnType<typeof createOutages>;

/** The connection itself. */
export const CONNECTION = 'connection';

/** What is over sooner is no outage: one late call, or a connection that Redis closes because it is idle. */
export const BRIEF_MS = 1_000;
/** Reasons that only an operator can mend. They are reported at once, and beside others. */
const NEEDS_OPERATOR = /CERT|SSL|TLS|ISSUER|WRONGPASS|NOAUTH|NOPERM/;

interface Outage {
  reason: string;
  /** It is reported beside others: a Redis that only refuses some calls is reachable. */
  isRefusal: boolean;
  isReported: boolean;
  timer: NodeJS.Timeout;
}

export function createOutages(report: ReportAvailability) {
  const outages = new Map<string, Outage>();
  const reported = () => [...outages.values()].filter(({ isReported }) => isReported);

  function tell(outage: Outage): void {
    clearTimeout(outage.timer);
    const { isReported, isRefusal, reason } = outage;
    const isNews = reported().length === 0 || (isRefusal && !isReported) || NEEDS_OPERATOR.test(reason);
    outage.isReported = true;
    if (isNews) report(reason);
  }
  return {
    isReported: (cause: string): boolean => outages.get(cause)?.isReported ?? false,
    isUnreachable: (): boolean => reported().some(({ isRefusal }) => !isRefusal),
    begin(cause: string, reason: string, isRefusal = false): void {
      const known = outages.get(cause);
      if (known?.reason === reason) return;
      const timer = known?.timer ?? setTimeout(() => tell(outage), BRIEF_MS).unref();
      const outage: Outage = Object.assign(known ?? { timer, isReported: false }, { reason, isRefusal });
      outages.set(cause, outage);
      if (NEEDS_OPERATOR.test(reason)) tell(outage);
    },
    end(cause: string): void {
      const outage = outages.get(cause);
      if (!outage) return;
      clearTimeout(outage.timer);
      outages.delete(cause);
      if (outage.isReported && reported().length === 0) report(undefined);
    },
  };
}
