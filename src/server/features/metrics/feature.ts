/** Metrics: of operations, gauges of server and upstream, and the route that shows all. */
import type { Feature, FeatureParts } from '../../feature.ts';
import { sendRead } from '../../http/response/static-response.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { registerServerGauges, registerUpstreamGauges } from './gauges.ts';
import { createOperationMetrics } from './operations.ts';

/** `share`: of a worker, passes its metrics on; what it returns is the text of all workers. */
export function createMetricsFeature(
  { metrics, isKnownName, upstream, state, checkUpstreams }: FeatureParts,
  share: (own: Metrics) => () => Promise<string> = (own) => () => own.text(),
): Feature {
  registerServerGauges(metrics, state);
  registerUpstreamGauges(metrics, upstream, checkUpstreams);
  const text = share(metrics);
  return {
    routes: {
      '/metrics': {
        handler: async (exchange) => sendRead(exchange, 200, metrics.contentType, await text()),
        audience: 'operator',
        isProbe: true,
      },
    },
    ...createOperationMetrics(metrics, isKnownName),
  };
}
