/** Counts by client, bounded in number. Of a client that has to go for another, the counts stay as `other`. */
import type { IncomingHttpHeaders } from 'node:http';
import { clientOf } from '../../http/request/client.ts';
import { type ClientName, OTHER, UNNAMED, clientNames } from '../../observability/client-names.ts';

export const CLIENTS_MAX = 50;

export interface Counted {
  requests: number;
  calls: number;
  /** In seconds. */
  last: number;
}

export interface ClientCounts extends Counted, ClientName {
  /** By number of the coordinate. */
  reads: Uint32Array;
  ofCalls: Uint32Array;
  lastRead: Uint32Array;
}

/** `size`: the number of coordinates. */
export function createClientCounts(allowed: readonly string[], size: number) {
  const nameOf = clientNames(allowed);
  /** By name, then by version: most requests are of a client that is known, and need no key of both. */
  const clients = new Map<string, Map<string, ClientCounts>>();
  const other = newClient({ name: OTHER, version: '' }, size);
  const unnamed = newClient({ name: UNNAMED, version: '' }, size);
  const named = () => [...clients.values()].flatMap((versions) => [...versions.values()]);
  let held = 0;

  function add(given: string, version: string): ClientCounts {
    const client = nameOf(given, version);
    if (client.name === OTHER) return other;
    const known = clients.get(client.name)?.get(client.version);
    if (known) return known;
    if (held === CLIENTS_MAX) forgetSmallest();
    const counts = newClient(client, size);
    if (!clients.has(client.name)) clients.set(client.name, new Map());
    clients.get(client.name)!.set(client.version, counts);
    held++;
    return counts;
  }

  function forgetSmallest(): void {
    const smallest = named().reduce((a, b) => (b.requests < a.requests ? b : a));
    const versions = clients.get(smallest.name)!;
    versions.delete(smallest.version);
    if (versions.size === 0) clients.delete(smallest.name);
    held--;
    addTo(other, smallest);
  }

  return {
    of(headers: IncomingHttpHeaders): ClientCounts {
      const client = clientOf(headers);
      if (!client) return unnamed;
      const { name, version } = client;
      return clients.get(name)?.get(version) ?? add(name, version);
    },
    all: (): ClientCounts[] => [...named(), ...[unnamed, other].filter(({ requests }) => requests > 0)],
  };
}

function newClient({ name, version }: ClientName, size: number): ClientCounts {
  const [reads, ofCalls, lastRead] = [new Uint32Array(size), new Uint32Array(size), new Uint32Array(size)];
  return { name, version, requests: 0, calls: 0, last: 0, reads, ofCalls, lastRead };
}

function addTo(sum: ClientCounts, { requests, calls, last, reads, ofCalls, lastRead }: ClientCounts): void {
  sum.requests += requests;
  sum.calls += calls;
  sum.last = Math.max(sum.last, last);
  for (let id = 0; id < reads.length; id++) {
    sum.reads[id]! += reads[id]!;
    sum.ofCalls[id]! += ofCalls[id]!;
    sum.lastRead[id] = Math.max(sum.lastRead[id]!, lastRead[id]!);
  }
}
