/** Metrics: of operations, gauges of server and upstream, and the route that shows all. */
import type { Feature, FeatureParts } from '../../feature.ts';
import { sendRead } from '../../http/response/static-response.ts';
import { registerServerGauges, registerUpstreamGauges } from './gauges.ts';
import { createOperationMetrics } from './operations.ts';

export function createMetricsFeature({ metrics, isKnownName, upstream, state }: FeatureParts): Feature {
  registerServerGauges(metrics, state);
  registerUpstreamGauges(metrics, upstream);
  return {
    routes: {
      '/metrics': {
        handler: async (exchange) => sendRead(exchange, 200, metrics.contentType, await metrics.text()),
        audience: 'operator',
        isProbe: true,
      },
    },
    ...createOperationMetrics(metrics, isKnownName),
  };
}
