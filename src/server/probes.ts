/** The routes of load balancers and their operators. */
import type { Routes } from './feature.ts';
import type { CheckHealth } from './health.ts';
import type { Exchange } from './http/exchange.ts';
import { sendJson } from './http/response/static-response.ts';
import type { Manifests } from './manifests.ts';

interface ProbeParts {
  checkUpstreams: CheckHealth;
  /** Why the server accepts no work; undefined if it does. */
  trouble: () => string | undefined;
  manifests: Manifests;
}

/**
 * `/ready`: whether load balancers should send requests to this replica. All replicas have the same
 * upstreams, so an unreachable one is only reported: without replicas, not even cached records would be served.
 */
export function createProbes({ checkUpstreams, trouble, manifests }: ProbeParts): Routes {
  async function ready(exchange: Exchange): Promise<void> {
    const own = trouble();
    if (own !== undefined) return sendJson(exchange, 503, { status: own });
    const states = manifests.states();
    const upstreams = await checkUpstreams();
    const shown = Object.keys(states).length > 0 && { manifests: states };
    sendJson(exchange, 200, { status: 'ready', upstreams, ...shown });
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
