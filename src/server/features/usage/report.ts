/** What /usage responds with: who reads what since when, and the upstream calls that it caused. */

export interface Count {
  requests: number;
  /** Upstream calls. */
  calls: number;
  /** When it was last counted, in ISO 8601; null for never. */
  last: string | null;
}

export interface UsageReport extends Omit<Count, 'last'> {
  /** Nothing is known of the time before. */
  since: string;
  until: string;
  /** How many processes counted. */
  processes: number;
  /** Upstream calls that no field of an operation asked for when it ended: refreshes, and calls of clients that left. */
  unattributed: number;
  clients: (Count & { name: string; version: string })[];
  operations: (Count & { name: string })[];
  /** The trusted documents, also those that nobody ran. */
  documents: UsedDocument[];
  /** Those that were read, and those that are deprecated. */
  coordinates: UsedCoordinate[];
  /** The others. */
  unused: string[];
  /** What LIMITS=report and PERSISTED_ONLY=report would reject; not set if both are in force. */
  refusals?: readonly UsedRefusal[] | undefined;
}

export interface UsedRefusal extends Count {
  code: string;
  operation: string;
  client: string;
  version: string;
  /** The limit that was exceeded, and by how much at most. */
  limit?: number | undefined;
  most?: number | undefined;
  /** SHA-256 of the text of the last document, in hex. */
  hash: string;
}

export interface UsedDocument extends Count {
  /** SHA-256 of the text, in hex. */
  hash: string;
  /** From when on it was counted, in ISO 8601: it may have come into the manifest while the server ran. */
  since: string;
  /** Who sent it, by name and version. */
  clients: string[];
}

export interface UsedCoordinate extends Count {
  coordinate: string;
  deprecated?: string | undefined;
  /** Who reads it, by name and version. */
  clients: string[];
  /** The known operations that read it. */
  operations: string[];
}

/** The reports of several processes as one. It knows no more of the past than the process that began last. */
export function mergeReports(reports: readonly UsageReport[]): UsageReport {
  const sum = (of: 'requests' | 'calls' | 'unattributed' | 'processes') =>
    reports.reduce((total, each) => total + each[of], 0);
  const coordinates = merged(
    reports.flatMap((each) => each.coordinates),
    ({ coordinate }) => coordinate,
    (a, b) => ({ clients: union(a.clients, b.clients), operations: union(a.operations, b.operations) }),
  );
  const known = new Set(coordinates.map(({ coordinate }) => coordinate));
  return {
    since: latest(reports.map(({ since }) => since))!,
    until: latest(reports.map(({ until }) => until))!,
    processes: sum('processes'),
    requests: sum('requests'),
    calls: sum('calls'),
    unattributed: sum('unattributed'),
    clients: merged(
      reports.flatMap((each) => each.clients),
      ({ name, version }) => `${name} ${version}`,
    ),
    operations: merged(
      reports.flatMap((each) => each.operations),
      ({ name }) => name,
    ),
    documents: mergedDocuments(reports),
    coordinates,
    unused: union(...reports.map(({ unused }) => unused)).filter((each) => !known.has(each)),
    refusals: reports.some(({ refusals }) => refusals)
      ? merged(
          reports.flatMap(({ refusals = [] }) => refusals),
          ({ code, operation, client, version }) => JSON.stringify([code, operation, client, version]),
          (a, b) => ({ ...(a.most !== undefined && { most: Math.max(a.most, b.most ?? 0) }) }),
        )
      : undefined,
  };
}

/** A process that does not know a document as trusted does not count it: then it cannot be said that nobody runs it. */
function mergedDocuments(reports: readonly UsageReport[]): UsedDocument[] {
  const known = reports.map(({ documents }) => new Set(documents.map(({ hash }) => hash)));
  return merged(
    reports.flatMap(({ documents }) => documents),
    ({ hash }) => hash,
    (a, b) => ({ clients: union(a.clients, b.clients), since: latest([a.since, b.since])! }),
  ).filter(({ hash, requests }) => requests > 0 || known.every((hashes) => hashes.has(hash)));
}

function merged<Entry extends Count>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
  rest: (a: Entry, b: Entry) => Partial<Entry> = () => ({}),
): Entry[] {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const before = all.get(key);
    all.set(
      key,
      before
        ? {
            ...before,
            ...rest(before, entry),
            requests: before.requests + entry.requests,
            calls: before.calls + entry.calls,
            last: latest([before.last, entry.last]) ?? null,
          }
        : entry,
    );
  }
  return [...all.values()];
}

/** The latest of times in ISO 8601; undefined if there are none. */
const latest = (times: readonly (string | null)[]): string | undefined =>
  times
    .filter((time) => time !== null)
    .sort()
    .at(-1);

const union = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();
