/**
 * Counts by trusted document. They are as many as the manifests of the operator have; their clients are bounded in number. A document that
 * nobody runs is told too, so that it can be told from one that the server does not know.
 */
import { sha256Of } from '../../../config/documents/trusted-documents.ts';
import { type LoggedCall, wasSent } from '../../../upstream/call-log.ts';
import type { Trusted } from '../../graphql/documents/trusted.ts';
import { CLIENTS_MAX, type Counted } from './client-counts.ts';
import { OTHER } from '../../observability/client-names.ts';

export interface DocumentCounts extends Counted {
  /** From when on it was counted, in seconds. */
  since: number;
  clients: Set<string>;
}

export function createDocumentCounts(trusted: Pick<Trusted, 'texts' | 'replaced'>) {
  /** By the hash of the text. */
  const documents = new Map<string, DocumentCounts>();
  let version: number | undefined;

  /** Follows the manifest: a document that came into it is counted from now on. */
  function renewed(): ReadonlyMap<string, DocumentCounts> {
    if (version === trusted.replaced()) return documents;
    version = trusted.replaced();
    const hashes = new Set([...trusted.texts()].map(sha256Of));
    for (const hash of documents.keys()) if (!hashes.has(hash)) documents.delete(hash);
    const since = Math.ceil(Date.now() / 1_000);
    for (const hash of hashes)
      if (!documents.has(hash)) documents.set(hash, { requests: 0, calls: 0, last: 0, since, clients: new Set() });
    return documents;
  }

  renewed();
  return {
    /** `at`: in seconds. */
    count(hash: string, client: string, calls: readonly LoggedCall[], at: number): void {
      const counts = renewed().get(hash);
      if (!counts) return;
      counts.requests++;
      counts.calls += calls.filter(wasSent).length;
      counts.last = at;
      const { clients } = counts;
      clients.add(clients.has(client) || clients.size < CLIENTS_MAX ? client : OTHER);
    },
    all: renewed,
  };
}
