import type { Endpoint } from '../../api/endpoint.ts';
import type { Logger } from 'pino';
import type { OnAvailabilityChange } from '../../upstream/availability.ts';
import type { ObservedCall } from '../../upstream/trace-context.ts';
import type { ServiceState } from '../../upstream/http/pool.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { Metrics } from './metrics.ts';
import type { Telemetry } from './tracing.ts';

/** Counts the upstream calls by the template of their endpoint: never by an id, which a client could choose. */
export function observeCalls(metrics: Metrics, telemetry?: Telemetry): (seen: ObservedCall) => void {
  const series = new WeakMap<
    Endpoint,
    { succeeded: { inc: () => void }; seconds: { observe: (value: number) => void } }
  >();
  return (seen) => {
    const { endpoint, outcome, ms } = seen;
    const labels = { service: endpoint.service, endpoint: `${endpoint.method} ${endpoint.path}` };
    if (outcome === 'cached' || outcome === 'stale') return metrics.cacheHits.inc({ ...labels, how: outcome });
    if (outcome === 'RateLimited') return metrics.rateLimited.inc(labels);
    let known = series.get(endpoint);
    if (!known) {
      const succeeded = metrics.upstreamCalls.labels({ ...labels, outcome: '200' });
      series.set(endpoint, (known = { succeeded, seconds: metrics.upstreamSeconds.labels(labels) }));
    }
    if (outcome === '200') known.succeeded.inc();
    else metrics.upstreamCalls.inc({ ...labels, outcome });
    known.seconds.observe(ms / 1000);
    telemetry?.call(seen);
  };
}

/** Says once when a service or Redis goes away, and once when it is back. */
export const logOutages =
  (log: Logger): OnAvailabilityChange =>
  (service, reason) =>
    reason === undefined
      ? log.warn({ service }, `${service} is back`)
      : log.warn({ service, reason }, `${service} is away`);

/** Registers the gauges of each upstream. */
export function registerUpstreamGauges(metrics: Metrics, { state }: UpstreamClient): void {
  const ofEach = (read: (service: ServiceState) => number) => () => {
    const { catalog, event } = state();
    return { catalog: read(catalog), event: read(event) };
  };
  const gauge = (name: string, help: string, read: (service: ServiceState) => number) =>
    metrics.gaugeBy(name, help, 'service', ofEach(read));
  gauge('catalog_upstream_up', '0 while the circuit breaker of the upstream is open.', ({ isOpen }) =>
    isOpen ? 0 : 1,
  );
  gauge('catalog_upstream_calls_running', 'Upstream calls under way.', ({ running }) => running);
  gauge('catalog_upstream_calls_waiting', 'Upstream calls that wait for a connection.', ({ waiting }) => waiting);
}
