/** Every metric of the facade, in one prom-client registry. Clients must not be able to choose label values freely. */
import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
  collectDefaultMetrics,
} from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** A counter, or one series of it. */
export interface Tally {
  inc: (by?: number) => void;
}

/** The number, or one for each value of the label. */
type GaugeValue = number | Readonly<Record<string, number>>;

/** How many durations are passed on to prom-client at once. */
const BATCH = 100;

export function createMetrics() {
  const registry = new Registry();
  const flushes: (() => void)[] = [];
  let collecting: Promise<string> | undefined;
  return {
    ...declaredMetrics(registry),
    /** A gauge that is read at each scrape. With a label, `read` returns a number for each value of the label. Of workers, the sum or the minimum. */
    gauge(
      name: string,
      help: string,
      read: () => GaugeValue | Promise<GaugeValue>,
      label?: string,
      aggregator: 'sum' | 'min' = 'sum',
    ): void {
      new Gauge({
        name,
        help,
        labelNames: label === undefined ? [] : [label],
        registers: [registry],
        aggregator,
        async collect() {
          const now = await read();
          if (typeof now === 'number') this.set(now);
          else for (const [value, number] of Object.entries(now)) this.set({ [label!]: value }, number);
        },
      });
    },
    /** Counts what happens with every request. prom-client hashes the labels each time, so it gets the sum before a scrape. */
    tally(total: { inc: (by: number) => void }): Tally {
      let unreported = 0;
      flushes.push(() => {
        if (unreported > 0) total.inc(unreported);
        unreported = 0;
      });
      return { inc: (by = 1) => void (unreported += by) };
    },
    /** The same with a histogram. */
    successes(total: { inc: (by: number) => void }, duration: { observe: (seconds: number) => void }) {
      const count = this.tally(total);
      let unreported: number[] = [];
      const flush = () => {
        for (const seconds of unreported) duration.observe(seconds);
        unreported = [];
      };
      flushes.push(flush);
      return {
        add(seconds: number): void {
          count.inc();
          if (unreported.push(seconds) === BATCH) flush();
        },
      };
    },
    /** CPU, memory, event loop lag and garbage collection of the process. */
    collectProcessMetrics: () => collectDefaultMetrics({ register: registry }),
    contentType: registry.contentType,
    /** The Prometheus text format. Requests of one time share it: it takes milliseconds. */
    text(): Promise<string> {
      if (collecting) return collecting;
      for (const flush of flushes) flush();
      return (collecting = registry.metrics().finally(() => (collecting = undefined)));
    },
    /** The same as values, from which those of several processes are summed. */
    values(): Promise<MetricObjectWithValues<MetricValue<string>>[]> {
      for (const flush of flushes) flush();
      return registry.getMetricsAsJSON();
    },
  };
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
    namedOperations: counter(
      'catalog_named_operations_total',
      'Operations by name and outcome, for names in the manifest and in operations/.',
      ['operation', 'outcome'],
    ),
    namedOperationSeconds: counter(
      'catalog_named_operation_seconds_total',
      'Seconds that operations took, by name, for names in the manifest and in operations/.',
      ['operation'],
    ),
    errors: counter('catalog_errors_total', 'Errors in responses by code.', ['code']),
    responseCacheHits: counter('catalog_answers_again_total', 'Responses served from the response cache.'),
    persistedDocuments: counter('catalog_persisted_documents_total', 'Documents requested by id, by outcome.', [
      'outcome',
    ]),
    upstreamCalls: counter('catalog_upstream_calls_total', 'Upstream calls by endpoint and outcome.', [
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
    cacheHits: counter('catalog_cache_answers_total', 'Upstream calls served from the record cache, fresh or stale.', [
      'service',
      'endpoint',
      'how',
    ]),
    rateLimited: counter('catalog_budget_refusals_total', 'Upstream calls not made because of the rate limit.', [
      'service',
      'endpoint',
    ]),
  };
}
