/** The routes of load balancers and their operators. */
import type { Routes } from './feature.ts';
import type { CheckHealth } from './health.ts';
import type { Exchange } from './http/exchange.ts';
import { sendJson } from './http/response/static-response.ts';

interface ProbeParts {
  checkUpstreams: CheckHealth;
  /** Why the server accepts no work; undefined if it does. */
  trouble: () => string | undefined;
}

/**
 * `/ready`: whether load balancers should send requests to this replica. All replicas have the same
 * upstreams, so an unreachable one is only reported: without replicas, not even cached records would be served.
 */
export function createProbes({ checkUpstreams, trouble }: ProbeParts): Routes {
  async function ready(exchange: Exchange): Promise<void> {
    const own = trouble();
    if (own !== undefined) return sendJson(exchange, 503, { status: own });
    sendJson(exchange, 200, { status: 'ready', upstreams: await checkUpstreams() });
  }

  return {
    '/health': {
      handler: (exchange) => sendJson(exchange, 200, { status: 'ok' }),
      audience: 'operator',
      isProbe: true,
    },
    '/ready': { handler: ready, audience: 'operator', isProbe: true },
  };
}
