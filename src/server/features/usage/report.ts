/** What /usage responds with: which operations which clients sent, and the upstream calls that they made. */

export interface UsageReport {
  /** Nothing is known of the time before. */
  since: string;
  until: string;
  operations: UsedOperation[];
  /** What LIMITS=report and PERSISTED_ONLY=report would reject; not set if both are in force. */
  refusals?: readonly UsedRefusal[] | undefined;
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

export interface UsedRefusal extends Omit<UsedOperation, 'name'> {
  code: string;
  operation: string;
  /** The limit that was exceeded, and by how much at most. */
  limit?: number | undefined;
  most?: number | undefined;
  /** SHA-256 of the text of the last document, in hex. */
  hash: string;
}

/** The reports of several instances as one. It knows no more of the past than the one that began last. */
export const mergeReports = (reports: readonly UsageReport[]): UsageReport => ({
  since: latest(reports.map(({ since }) => since)),
  until: latest(reports.map(({ until }) => until)),
  operations: merged(
    reports.flatMap(({ operations }) => operations),
    ({ name, client, version }) => [name, client, version],
  ),
  refusals: reports.some(({ refusals }) => refusals)
    ? merged(
        reports.flatMap(({ refusals = [] }) => refusals),
        ({ code, operation, client, version }) => [code, operation, client, version],
      )
    : undefined,
});

type Counted = Pick<UsedOperation, 'requests' | 'calls' | 'last'> & Pick<UsedRefusal, 'most'>;

function merged<Entry extends Counted>(entries: readonly Entry[], keyOf: (entry: Entry) => string[]): Entry[] {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    const key = JSON.stringify(keyOf(entry));
    const before = all.get(key);
    if (!before) all.set(key, entry);
    else
      all.set(key, {
        ...before,
        requests: before.requests + entry.requests,
        calls: before.calls + entry.calls,
        last: latest([before.last, entry.last]),
        ...(before.most !== undefined && { most: Math.max(before.most, entry.most ?? 0) }),
      });
  }
  return [...all.values()];
}

/** The latest of times in ISO 8601. */
const latest = (times: readonly string[]): string => times.toSorted().at(-1)!;
