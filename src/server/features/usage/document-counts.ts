/** Counts by trusted document. They are as many as the manifests of the operator have; their clients are bounded in number. */
import { type LoggedCall, wasSent } from '../../../upstream/call-log.ts';
import { CLIENTS_MAX, type Counted } from './client-counts.ts';
import { OTHER } from './client-names.ts';

interface DocumentCounts extends Counted {
  clients: Set<string>;
}

export function createDocumentCounts() {
  /** By the hash of the text. */
  const documents = new Map<string, DocumentCounts>();
  return {
    /** `at`: in seconds. */
    count(hash: string, client: string, calls: readonly LoggedCall[], at: number): void {
      let counts = documents.get(hash);
      if (!counts) documents.set(hash, (counts = { requests: 0, calls: 0, last: 0, clients: new Set() }));
      counts.requests++;
      counts.calls += calls.filter(wasSent).length;
      counts.last = at;
      const { clients } = counts;
      clients.add(clients.has(client) || clients.size < CLIENTS_MAX ? client : OTHER);
    },
    all: (): ReadonlyMap<string, DocumentCounts> => documents,
  };
}
