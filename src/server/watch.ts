import type { Endpoint } from '../contract/endpoint.ts';
import type { Logger } from 'pino';
import type { OnOutage } from '../upstream/outage.ts';
import type { SeenCall } from '../upstream/span.ts';
import type { UpstreamSource } from '../upstream/upstream.ts';
import type { Metrics } from './metrics.ts';
import type { Telemetry } from './telemetry.ts';

/** Counts the upstream calls by the template of their endpoint: never by an id, which a client could choose. */
export function watchCalls(metrics: Metrics, telemetry?: Telemetry): (seen: SeenCall) => void {
  const calls = metrics.counter('catalog_upstream_calls_total', 'Calls of the service by endpoint and outcome.');
  const kept = metrics.counter('catalog_cache_answers_total', 'Calls spared by kept records, fresh or stale.');
  const refused = metrics.counter(
    'catalog_budget_refusals_total',
    'Calls not made because the rate limit was used up.',
  );
  const seconds = metrics.histogram(
    'catalog_upstream_seconds',
    'Time of the calls of the service, by endpoint.',
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  const series = new WeakMap<Endpoint, { ok: { add: () => void }; seconds: { observe: (value: number) => void } }>();
  return (seen) => {
    const { endpoint, outcome, ms } = seen;
    const labels = () => ({ service: endpoint.service, endpoint: `${endpoint.method} ${endpoint.path}` });
    if (outcome === 'cached' || outcome === 'stale') return kept.add({ ...labels(), how: outcome });
    if (outcome === 'RateLimited') return refused.add(labels());
    let known = series.get(endpoint);
    if (!known) {
      known = { ok: calls.of({ ...labels(), outcome: '200' }), seconds: seconds.of(labels()) };
      series.set(endpoint, known);
    }
    if (outcome === '200') known.ok.add();
    else calls.add({ ...labels(), outcome });
    known.seconds.observe(ms / 1000);
    telemetry?.call(seen);
  };
}

/** Says once when a service or Redis goes away, and once when it is back. */
export const watchOutages =
  (log: Logger): OnOutage =>
  (service, reason) =>
    reason === undefined
      ? log.warn({ service }, `${service} is back`)
      : log.warn({ service, reason }, `${service} is away`);

/** Shows what goes on at each service. */
export function watchServices(metrics: Metrics, { state }: UpstreamSource): void {
  for (const service of ['catalog', 'event'] as const) {
    metrics.gauge(
      `catalog_${service}_calls_running`,
      `Calls of the ${service} service under way.`,
      () => state()[service].running,
    );
    metrics.gauge(
      `catalog_${service}_calls_waiting`,
      `Calls that wait for a connection to the ${service} service.`,
      () => state()[service].waiting,
    );
    metrics.gauge(`catalog_${service}_down`, `1 while the ${service} service is left alone for being down.`, () =>
      state()[service].isOpen ? 1 : 0,
    );
  }
}

/** What a long run would let grow, if anything did. */
export function watchProcess(metrics: Metrics): void {
  const active = () => process.getActiveResourcesInfo();
  metrics.gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss());
  metrics.gauge('process_heap_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed);
  metrics.gauge(
    'process_active_timers',
    'Timers that run.',
    () => active().filter((kind) => kind === 'Timeout').length,
  );
  metrics.gauge(
    'process_active_handles',
    'Sockets, files and the like.',
    () => active().filter((kind) => kind !== 'Timeout').length,
  );
}
