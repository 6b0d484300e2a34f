/** What is wrong with one Redis, by cause. It is reported once when the first cause begins, and once when the last ends. */
import type { ReportAvailability } from '../../availability.ts';

export type Outages = ReturnType<typeof createOutages>;

/** The connection itself. */
export const CONNECTION = 'connection';

/** Reasons that only an operator can mend. They are reported also if the outage began for another reason. */
const NEEDS_OPERATOR = /CERT|SSL|TLS|ISSUER|WRONGPASS|NOAUTH|NOPERM/;

export function createOutages(report: ReportAvailability) {
  const causes = new Map<string, string>();
  const separate = new Set<string>();
  /** `isSeparate`: it is reported beside other causes. */
  function begin(cause: string, reason: string, isSeparate = false): void {
    const before = causes.get(cause);
    const isFirst = causes.size === 0;
    causes.set(cause, reason);
    if (isSeparate) separate.add(cause);
    if (before === reason) return;
    if (isFirst || (isSeparate && before === undefined) || NEEDS_OPERATOR.test(reason)) report(reason);
  }
  function end(cause: string): void {
    if (causes.delete(cause) && causes.size === 0) report(undefined);
  }
  return {
    has: (cause: string): boolean => causes.has(cause),
    /** A Redis that only refuses some calls is reachable. */
    isUnreachable: (): boolean => [...causes].some(([cause]) => !separate.has(cause)),
    begin,
    end,
    set: (cause: string, reason: string | undefined): void =>
      reason === undefined ? end(cause) : begin(cause, reason),
  };
}

/** How long after it was closed a connection may be restored before that counts as an outage. */
const RESTORED_MS = 1_000;

export type ConnectionMonitor = ReturnType<typeof createConnectionMonitor>;

/** Follows the connection. One that Redis closes because it is idle, and that is restored at once, is no outage. */
export function createConnectionMonitor(outages: Outages, onRestored: () => void) {
  let isConnected = false;
  /** Since when, and why, it is not connected any more. */
  let closed: { at: number; reason: string } | undefined;
  let lostAt = -Infinity;
  let grace: NodeJS.Timeout | undefined;

  function fail(reason: string): void {
    clearTimeout(grace);
    closed = undefined;
    isConnected = false;
    outages.begin(CONNECTION, reason);
  }
  function onClose(reason = 'closed'): void {
    isConnected = false;
    if (outages.has(CONNECTION) || closed !== undefined) return;
    closed = { at: performance.now(), reason };
    grace = setTimeout(fail, RESTORED_MS, reason).unref();
  }
  return {
    /** A command had no reply when its connection closed. */
    onLostCommand(): void {
      lostAt = performance.now();
    },
    onClose: () => onClose(),
    /** An error while connecting is an outage at once. An error of a connection closes it, and it may be restored. */
    onError: (reason: string): void => (isConnected ? onClose(reason) : fail(reason)),
    onSilence: (): void => fail('no answer in time'),
    onReady(): void {
      clearTimeout(grace);
      if (closed && lostAt > closed.at - RESTORED_MS) outages.begin(CONNECTION, closed.reason);
      else if (closed) onRestored();
      closed = undefined;
      isConnected = true;
      outages.end(CONNECTION);
    },
  };
}
