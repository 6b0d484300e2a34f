/** Counts operations by name and client, with the upstream calls that each made. The counts are bounded in number. */
import type { IncomingHttpHeaders } from 'node:http';
import { wasSent } from '../../../upstream/call-log.ts';
import type { EndedOperation } from '../../graphql/ended-operation.ts';
import { clientOf } from '../../http/request/client.ts';
import { OTHER, UNNAMED, clientNames } from '../../observability/client-names.ts';
import type { Metrics, Tally } from '../../observability/metrics.ts';
import type { UsageReport, UsedOperation } from './report.ts';

export const COUNTED_MAX = 1_000;

type CountedOperation = Pick<EndedOperation, 'headers' | 'operation' | 'session' | 'isStored'>;

interface CountOfClient extends Omit<UsedOperation, 'last'> {
  lastMs: number;
}

/** `allowed`: the clients that are counted by name; any if there are none. Operations that the operator did not name are counted together. */
export function createUsage(allowed: readonly string[], metrics: Metrics, isKnownName: (name: string) => boolean) {
  const since = new Date().toISOString();
  const nameOf = clientNames(allowed);
  const counts = new Map<string, CountOfClient>();
  const series = seriesOf(metrics, allowed);

  function countOf(name: string, client: string, version: string): CountOfClient {
    const key = JSON.stringify([name, client, version]);
    const known = counts.get(key);
    if (known) return known;
    if (counts.size >= COUNTED_MAX && client !== OTHER) forgetSmallest();
    const count = { name, client, version, requests: 0, calls: 0, lastMs: 0 };
    counts.set(key, count);
    return count;
  }

  /** Clients choose their names: what the smallest of them has counted stays as that of others. */
  function forgetSmallest(): void {
    const named = [...counts].filter(([, { client }]) => client !== OTHER);
    const [key, smallest] = named.reduce((a, b) => (b[1].requests < a[1].requests ? b : a));
    counts.delete(key);
    add(countOf(smallest.name, OTHER, ''), smallest.requests, smallest.calls, smallest.lastMs);
  }

  return {
    /** Counts an operation that was run, or whose response was stored. */
    onEnd: ({ headers = {}, operation, session, isStored }: CountedOperation): void => {
      if (!operation || !(session || isStored)) return;
      const { name = OTHER } = operation;
      const client = clientIn(headers);
      const calls = session?.callLog.calls.filter(wasSent).length ?? 0;
      add(countOf(isKnownName(name) ? name : OTHER, client.name, client.version), 1, calls, Date.now());
      const counters = series(client.name);
      counters.operations.inc();
      for (let call = 0; call < calls; call++) counters.calls.inc();
    },
    report: (): UsageReport => ({
      since,
      until: new Date().toISOString(),
      operations: [...counts.values()].map(({ lastMs, ...count }) => ({
        ...count,
        last: new Date(lastMs).toISOString(),
      })),
    }),
  };

  function clientIn(headers: IncomingHttpHeaders) {
    const client = clientOf(headers);
    return client ? nameOf(client.name, client.version) : { name: UNNAMED, version: '' };
  }
}

function add(count: CountOfClient, requests: number, calls: number, lastMs: number): void {
  count.requests += requests;
  count.calls += calls;
  count.lastMs = Math.max(count.lastMs, lastMs);
}

/** Two counters for each client that the settings name, and for all others: label values are not chosen by clients. */
function seriesOf(metrics: Metrics, allowed: readonly string[]) {
  const seriesFor = (client: string): { operations: Tally; calls: Tally } => ({
    operations: metrics.tally(metrics.clientOperations.labels({ client })),
    calls: metrics.tally(metrics.clientCalls.labels({ client })),
  });
  const known = new Map(allowed.map((client) => [client, seriesFor(client)]));
  const others = seriesFor(OTHER);
  return (client: string) => known.get(client) ?? others;
}
