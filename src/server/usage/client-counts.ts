/** Counts by client, bounded in number. Of a client that has to go for another, the counts stay as `other`. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ClientName, OTHER, clientNames } from './client-names.ts';

const CLIENTS_MAX = 50;

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
  const clients = new Map<string, ClientCounts>();
  const other = newClient({ name: OTHER, version: '' }, size);

  function forgetSmallest(): void {
    const [key, smallest] = [...clients].reduce((a, b) => (b[1].requests < a[1].requests ? b : a));
    clients.delete(key);
    addTo(other, smallest);
  }

  return {
    of(headers: IncomingHttpHeaders): ClientCounts {
      const client = nameOf(headers);
      if (client.name === OTHER) return other;
      const key = `${client.name} ${client.version}`;
      let counts = clients.get(key);
      if (counts) return counts;
      if (clients.size >= CLIENTS_MAX) forgetSmallest();
      clients.set(key, (counts = newClient(client, size)));
      return counts;
    },
    all: (): ClientCounts[] => [...clients.values(), ...(other.requests > 0 ? [other] : [])],
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
