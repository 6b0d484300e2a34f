/** Counts what would be rejected, by code, operation and client. Clients choose two of them, so the number of counts is bounded. */
import type { ClientName } from '../../observability/client-names.ts';
import { OTHER } from '../../observability/client-names.ts';
import type { ReportedRefusal } from './reported-check.ts';

export const COUNTS_MAX = 200;
const OPERATION_MAX = 100;

/** Its names are public: they are those of /usage. */
export interface CountedRefusal {
  code: string;
  operation: string;
  client: string;
  version: string;
  requests: number;
  /** Upstream calls of these operations, as far as they had been made when the response began. */
  calls: number;
  /** In ISO 8601. */
  last: string;
  /** The limit that was exceeded, and by how much at most. */
  limit?: number | undefined;
  most?: number | undefined;
  /** SHA-256 of the text of the last document, in hex. */
  hash: string;
}

export interface RefusedOperation {
  name: string | undefined;
  client: ClientName;
  calls: number;
  hash: string;
}

export function createRefusalCounts() {
  const counts = new Map<string, CountedRefusal>();
  /** Requests since the last report. */
  let fresh = new Map<CountedRefusal, number>();

  function countsOf(code: string, operation: string, { name, version }: ClientName, hash: string): CountedRefusal {
    const key = JSON.stringify([code, operation, name, version]);
    const known = counts.get(key);
    if (known) return known;
    if (counts.size >= COUNTS_MAX && operation !== OTHER)
      return countsOf(code, OTHER, { name: OTHER, version: '' }, hash);
    const made = { code, operation, client: name, version, requests: 0, calls: 0, last: '', hash };
    counts.set(key, made);
    return made;
  }

  return {
    count({ code, limit, actual }: ReportedRefusal, { name = 'unnamed', client, calls, hash }: RefusedOperation): void {
      const counted = countsOf(code, name.slice(0, OPERATION_MAX), client, hash);
      counted.requests++;
      counted.calls += calls;
      counted.last = new Date().toISOString();
      counted.hash = hash;
      if (limit !== undefined) counted.limit = limit;
      if (actual !== undefined) counted.most = Math.max(counted.most ?? 0, actual);
      fresh.set(counted, (fresh.get(counted) ?? 0) + 1);
    },
    all: (): CountedRefusal[] => [...counts.values()],
    /** What was counted since it was taken last, the most frequent first. */
    takeFresh(): readonly (readonly [CountedRefusal, number])[] {
      const taken = [...fresh].sort(([, a], [, b]) => b - a);
      fresh = new Map();
      return taken;
    },
  };
}
