import { once } from 'node:events';
import { connect } from 'node:net';
import type { Config } from '../../config/settings.ts';
import { settlesWithin } from '../../lib/promises.ts';

/** How long a result is used again. Load balancers probe often, and each probe must not open a connection. */
const REMEMBERED_MS = 5_000;

/** Checks whether the upstreams accept connections. The facade is ready if one of them does. */
export function createHealth(config: Config) {
  let last: { at: number; readiness: ReturnType<typeof probe> } | undefined;

  async function probe() {
    const [v2, events] = await Promise.all([reach(config.baseUrl, config), reach(config.eventBaseUrl, config)]);
    return { ready: v2 || events, upstreams: { v2: describe(v2), events: describe(events) } };
  }

  return {
    check() {
      const now = performance.now();
      if (!last || now - last.at > REMEMBERED_MS) last = { at: now, readiness: probe() };
      return last.readiness;
    },
  };
}

const describe = (reachable: boolean) => (reachable ? 'reachable' : 'unreachable');

async function reach(address: string | undefined, { connectTimeoutMs }: Config): Promise<boolean> {
  if (!address) return false;
  const { hostname, port, protocol } = new URL(address);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''), // an IPv6 address is bracketed in a URL alone
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  });
  try {
    return await settlesWithin(connectTimeoutMs, once(socket, 'connect'));
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
