/** The routes of load balancers and their operators. */
import type { UpstreamClient } from '../upstream/client.ts';
import type { Routes } from './feature.ts';
import type { Exchange } from './http/exchange.ts';
import { sendJson } from './http/response/static-response.ts';

interface ProbeParts {
  upstream: Pick<UpstreamClient, 'state'>;
  /** Why the server accepts no work; undefined if it does. */
  trouble: () => string | undefined;
}

/**
 * `/ready`: whether load balancers should send requests to this replica. All replicas have the same
 * upstreams, so one whose circuit breaker is open is only reported: without replicas, not even cached records would be served.
 */
export function createProbes({ upstream, trouble }: ProbeParts): Routes {
  function ready(exchange: Exchange): void {
    const own = trouble();
    if (own !== undefined) return sendJson(exchange, 503, { status: own });
    const found = Object.entries(upstream.state());
    const states = found.map(([service, { isOpen }]) => [service, isOpen ? 'unreachable' : 'reachable']);
    sendJson(exchange, 200, { status: 'ready', upstreams: Object.fromEntries(states) as object });
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
