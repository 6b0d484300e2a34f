/** Every metric of the facade, in one prom-client registry. Clients must not be able to choose label values freely. */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** A counter, or one series of it. */
export interface Counts {
  inc: (by?: number) => void;
}

/** The number, or one for each value of the label; undefined if there is none now. */
type ReadValue = number | Readonly<Record<string, number>> | undefined;

/** How many durations are passed on to prom-client at once. */
const BATCH = 100;

export function createMetrics() {
  const registry = new Registry();
  const collected = collectedMetrics(registry);
  const flushes: (() => void)[] = [];
  return {
    ...declaredMetrics(registry),
    ...collected,
    /** Counts what happens with every request. prom-client hashes the labels each time, so it gets the sum before a scrape. */
    counts(total: { inc: (by: number) => void }): Counts {
      let unreported = 0;
      flushes.push(() => {
        if (unreported > 0) total.inc(unreported);
        unreported = 0;
      });
      return { inc: (by = 1) => void (unreported += by) };
    },
    /** Collects durations, and adds them to a histogram in batches and before a scrape. `onFlush` gets each batch. */
    durations(duration: { observe: (seconds: number) => void }, onFlush?: (seconds: readonly number[]) => void) {
      let unreported: number[] = [];
      const flush = () => {
        if (unreported.length === 0) return;
        for (const seconds of unreported) duration.observe(seconds);
        onFlush?.(unreported);
        unreported = [];
      };
      flushes.push(flush);
      return {
        add(seconds: number): void {
          if (unreported.push(seconds) === BATCH) flush();
        },
      };
    },
    /** CPU, memory, event loop lag and garbage collection of the process, and its limits. */
    collectProcessMetrics(): void {
      collectDefaultMetrics({ register: registry });
      const limit = 'Bytes of memory of the container, or else of the machine.';
      collected.gauge('catalog_memory_limit_bytes', limit, memoryLimit);
      const heapLimit = 'Bytes that the heap may have before V8 ends the process.';
      collected.gauge('catalog_heap_limit_bytes', heapLimit, () => getHeapStatistics().heap_size_limit);
    },
    contentType: registry.contentType,
    /** The Prometheus text format. */
    text(): Promise<string> {
      for (const flush of flushes) flush();
      return registry.metrics();
    },
  };
}

/** Metrics of numbers that are kept elsewhere: they are read at each scrape, and cost nothing otherwise. */
const collectedMetrics = (registry: Registry) => ({
  /** A gauge that is read at each scrape. With a label, `read` returns a number for each value of the label. */
  gauge(name: string, help: string, read: () => ReadValue | Promise<ReadValue>, label?: string): void {
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const now = await read();
        if (now === undefined) this.remove();
        else if (typeof now === 'number') this.set(now);
        else for (const [value, number] of Object.entries(now)) this.set({ [label!]: value }, number);
      },
    });
  },
  /** A counter that is counted elsewhere, and read at each scrape as a gauge is. */
  total(name: string, help: string, read: () => number | Readonly<Record<string, number>>, label?: string): void {
    new Counter({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect() {
        this.reset();
        const now = read();
        if (typeof now === 'number') this.inc(now);
        else for (const [value, total] of Object.entries(now)) this.inc({ [label!]: value }, total);
      },
    });
  },
});

/** Node returns 0, or more than there is, if the container has no limit. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function declaredMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, buckets: number[], labelNames: Label[]) =>
    new Histogram({ name, help, buckets, labelNames, registers });
  return {
    requests: counter('catalog_requests_total', 'HTTP requests by path and status.', ['path', 'status']),
    overloads: counter('catalog_overloads_total', 'Requests rejected because of overload.'),
    unreadConnections: counter(
      'catalog_unread_connections_total',
      'Connections closed because their clients did not read, or did not complete a body.',
    ),
    operations: counter('catalog_operations_total', 'Operations by type and outcome.', ['type', 'outcome']),
    operationSeconds: histogram(
      'catalog_operation_seconds',
      'Seconds that an operation took, by type.',
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      ['type'],
    ),
    namedOperations: counter('catalog_named_operations_total', 'Operations by such a name and outcome.', [
      'operation',
      'outcome',
    ]),
    namedOperationDurations: histogram(
      'catalog_named_operation_duration_seconds',
      'Seconds that an operation took, by a name in the manifest or in operations/.',
      [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      ['operation'],
    ),
    errors: counter('catalog_errors_total', 'Errors of operations, not of rejected requests, by code.', ['code']),
    responseCacheHits: counter('catalog_response_cache_hits_total', 'Responses served from the response cache.'),
    upstreamCalls: counter('catalog_upstream_calls_total', 'Upstream calls that were sent, by endpoint and outcome.', [
      'service',
      'endpoint',
      'outcome',
    ]),
    upstreamSeconds: histogram(
      'catalog_upstream_seconds',
      'Seconds that an upstream call took, by endpoint.',
      [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      ['service', 'endpoint'],
    ),
    unexpectedMembers: counter(
      'catalog_unexpected_members_total',
      'Members that are required and missing, unknown or of another type, in the first response of each endpoint a minute.',
      ['endpoint'],
    ),
    cacheHits: counter('catalog_cache_hits_total', 'Upstream calls served from the record cache, fresh or stale.', [
      'service',
      'endpoint',
      'how',
    ]),
    rateLimited: counter('catalog_rate_limited_total', 'Upstream calls not made because of the rate limit.', [
      'service',
      'endpoint',
    ]),
  };
}
