/** Counts operations, with their upstream calls, by name and client. Clients choose names: COUNTED_MAX of the longest take 0.4 MB. */
import type { IncomingHttpHeaders } from 'node:http';
import { wasSent } from '../../../upstream/call-log.ts';
import type { EndedOperation } from '../../graphql/ended-operation.ts';
import { clientOf } from '../../http/request/client.ts';
import type { UsageReport, UsedOperation } from './report.ts';

export const COUNTED_MAX = 1_000;
/** Operations that the operator did not name, and clients with a name that cannot be shown. */
const OTHER = 'other';
/** Clients that send no name. */
const UNNAMED = 'unnamed';
const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/;
const VERSION = /^[\w.+-]{1,32}$/;

type CountedOperation = Pick<EndedOperation, 'headers' | 'operation' | 'session' | 'isStored'>;

interface CountOfClient extends Omit<UsedOperation, 'last'> {
  lastMs: number;
}

export function createUsage(isKnownName: (name: string) => boolean) {
  const since = new Date().toISOString();
  const counts = new Map<string, CountOfClient>();

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
}

function clientIn(headers: IncomingHttpHeaders): Pick<UsedOperation, 'name' | 'version'> {
  const { name, version } = clientOf(headers) ?? { name: UNNAMED, version: '' };
  return NAME.test(name) ? { name, version: VERSION.test(version) ? version : '' } : { name: OTHER, version: '' };
}

function add(count: CountOfClient, requests: number, calls: number, lastMs: number): void {
  count.requests += requests;
  count.calls += calls;
  count.lastMs = Math.max(count.lastMs, lastMs);
}
