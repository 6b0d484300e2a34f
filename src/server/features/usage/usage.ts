/**
 * Counts who reads what: by client, operation and coordinate of the schema, with the upstream calls that each caused. Everything is bounded:
 * the coordinates by the schema, the clients and operations by a number.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import { oncePer } from '../../../lib/remember.ts';
import { type LoggedCall, wasSent } from '../../../upstream/call-log.ts';
import type { ObservedCall } from '../../../upstream/http/call.ts';
import type { ExecutableDocument, NamedOperation } from '../../../engine/documents/prepare.ts';
import { type EndedOperation, documentHash } from '../../graphql/ended-operation.ts';
import type { Trusted } from '../../graphql/documents/trusted.ts';
import type { Metrics, Tally } from '../../observability/metrics.ts';
import { type ClientCounts, type Counted, createClientCounts } from './client-counts.ts';
import { type ClientName, OTHER } from '../../observability/client-names.ts';
import { type Coordinate, type Coordinates, type DocumentReads, createCoordinates } from './coordinates.ts';
import { type DocumentCounts, createDocumentCounts } from './document-counts.ts';
import type { Count, UsageReport, UsedDocument } from './report.ts';

const OPERATIONS_MAX = 500;

type CountedOperation = Pick<EndedOperation, 'headers' | 'operation' | 'document' | 'session' | 'isStored'>;

interface OperationCounts extends Counted {
  ids: Set<number>;
}

/** `hash`: that of the text. */
type CountedReads = DocumentReads & { hash: string };

/** What is counted by its own name, because the operator named it: the rest is counted together. */
export interface Known {
  isKnownName: (name: string) => boolean;
  trusted: Pick<Trusted, 'texts' | 'replaced'>;
}
const nothingKnown: Known = { isKnownName: () => false, trusted: { texts: () => [], replaced: () => 0 } };

export function createUsage(
  schema: GraphQLSchema,
  allowed: readonly string[],
  metrics: Metrics,
  { isKnownName, trusted }: Known = nothingKnown,
) {
  const coordinates = createCoordinates(schema);
  const since = Date.now();
  const clients = createClientCounts(allowed, coordinates.all.length);
  const operations = new Map<string, OperationCounts>();
  const documents = createDocumentCounts(trusted);
  const total = { requests: 0, calls: 0, attributed: 0 };
  const readsOf = rememberReads(coordinates);
  const series = seriesOf(metrics, allowed);

  /** Once for each document: one that is prepared before its name is known stays with the others until it is prepared again. */
  const operationOf = oncePer(({ operationName: name, ids }: DocumentReads): OperationCounts => {
    const known = name !== undefined && isKnownName(name) && (operations.has(name) || operations.size < OPERATIONS_MAX);
    const key = known ? name : OTHER;
    let counts = operations.get(key);
    if (!counts) operations.set(key, (counts = { requests: 0, calls: 0, last: 0, ids: new Set() }));
    for (const id of ids) counts.ids.add(id);
    return counts;
  });

  function count(headers: IncomingHttpHeaders, reads: CountedReads, calls: readonly LoggedCall[]): void {
    const client = clients.of(headers);
    const operation = operationOf(reads);
    const counters = series(client.name);
    const at = Math.floor(Date.now() / 1_000);
    for (const id of reads.ids) {
      client.reads[id]!++;
      client.lastRead[id] = at;
    }
    for (const call of calls) {
      const id = wasSent(call) ? coordinates.idOfPath(reads, call.field) : undefined;
      if (id === undefined) continue;
      client.ofCalls[id]!++;
      total.attributed++;
      client.calls++;
      operation.calls++;
      counters.calls.inc();
    }
    client.requests++;
    client.last = at;
    operation.requests++;
    operation.last = at;
    documents.count(reads.hash, clientLabel(client), calls, at);
    total.requests++;
    counters.operations.inc();
  }

  return {
    /** Counts an operation that was run, or whose response was stored. */
    onEnd: ({ headers = {}, operation, document, session, isStored }: CountedOperation): void => {
      const found = operation && (session || isStored) ? readsOf(operation, document) : undefined;
      if (found) count(headers, found, session?.callLog.calls ?? []);
    },
    /** Counts what `catalog_upstream_calls_total` counts. */
    observe: (call: ObservedCall): void => {
      if (wasSent(call)) total.calls++;
    },
    report: (): UsageReport => ({
      since: new Date(since).toISOString(),
      until: new Date().toISOString(),
      processes: 1,
      requests: total.requests,
      calls: total.calls,
      // Operations may end before their calls do.
      unattributed: Math.max(0, total.calls - total.attributed),
      clients: clients.all().map(({ name, version, ...counts }) => ({ name, version, ...shownCount(counts) })),
      operations: [...operations].map(([name, counts]) => ({ name, ...shownCount(counts) })),
      documents: shownDocuments(documents.all()),
      ...usedOf(coordinates.all, clients.all(), operations),
    }),
  };
}

const shownDocuments = (documents: ReadonlyMap<string, DocumentCounts>): UsedDocument[] =>
  [...documents].map(([hash, { since, clients, ...counts }]) => ({
    hash,
    since: new Date(since * 1_000).toISOString(),
    ...shownCount(counts),
    clients: [...clients].sort(),
  }));

const clientLabel = ({ name, version }: ClientName): string => `${name} ${version}`.trim();

/** By the operation, so that those of a stored response are known when its document is gone. */
function rememberReads(coordinates: Coordinates) {
  const reads = new WeakMap<NamedOperation, CountedReads>();
  return (operation: NamedOperation, ready: ExecutableDocument | undefined): CountedReads | undefined => {
    const known = reads.get(operation);
    if (known || !ready) return known;
    const { document } = ready;
    const found = { ...coordinates.readsOf(document, ready.operation), hash: documentHash(document) };
    reads.set(operation, found);
    return found;
  };
}

function usedOf(
  all: readonly Coordinate[],
  clients: readonly ClientCounts[],
  operations: ReadonlyMap<string, OperationCounts>,
): Pick<UsageReport, 'coordinates' | 'unused'> {
  const used = all.map(({ coordinate, deprecated }, id) => {
    const readers = clients.filter(({ reads, ofCalls }) => reads[id]! > 0 || ofCalls[id]! > 0);
    const sum = (of: 'reads' | 'ofCalls') => readers.reduce((number, each) => number + each[of][id]!, 0);
    const last = Math.max(0, ...readers.map(({ lastRead }) => lastRead[id]!));
    return {
      coordinate,
      ...(deprecated !== undefined && { deprecated }),
      ...shownCount({ requests: sum('reads'), calls: sum('ofCalls'), last }),
      clients: readers.map(clientLabel).sort(),
      operations: [...operations].flatMap(([name, { ids }]) => (ids.has(id) ? [name] : [])).sort(),
    };
  });
  const isShown = ({ requests, calls, deprecated }: (typeof used)[number]) =>
    requests > 0 || calls > 0 || deprecated !== undefined;
  return {
    coordinates: used.filter(isShown),
    unused: used.filter((each) => !isShown(each)).map(({ coordinate }) => coordinate),
  };
}

const shownCount = ({ requests, calls, last }: Counted): Count => ({
  requests,
  calls,
  last: last > 0 ? new Date(last * 1_000).toISOString() : null,
});

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
