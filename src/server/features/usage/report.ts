/** What /usage responds with: which operations which clients sent, and the upstream calls that they made. */

export interface UsageReport {
  /** Nothing is known of the time before. */
  since: string;
  until: string;
  operations: UsedOperation[];
}

export interface UsedOperation {
  /** That of the operation if the operator knows it, else `other`. */
  name: string;
  client: string;
  version: string;
  requests: number;
  /** Upstream calls that were sent. */
  calls: number;
  /** When it was last sent, in ISO 8601. */
  last: string;
}

/** The reports of several instances as one. It knows no more of the past than the one that began last. */
export const mergeReports = (reports: readonly UsageReport[]): UsageReport => ({
  since: latest(reports.map(({ since }) => since)),
  until: latest(reports.map(({ until }) => until)),
  operations: merged(reports.flatMap(({ operations }) => operations)),
});

function merged(entries: readonly UsedOperation[]): UsedOperation[] {
  const all = new Map<string, UsedOperation>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.name, entry.client, entry.version]);
    const before = all.get(key);
    if (!before) all.set(key, entry);
    else
      all.set(key, {
        ...before,
        requests: before.requests + entry.requests,
        calls: before.calls + entry.calls,
        last: latest([before.last, entry.last]),
      });
  }
  return [...all.values()];
}

/** The latest of times in ISO 8601. */
const latest = (times: readonly string[]): string => times.toSorted().at(-1)!;
