import { connect } from 'node:net';
import type { Config } from '../../config/settings.ts';

export interface Readiness {
  ready: boolean;
  /** Each upstream by its role. */
  upstreams: Record<'v2' | 'events', 'reachable' | 'unreachable'>;
}

/** How long an answer is believed: a probe a second from every balancer must not become a connection each. */
const REMEMBERED_MS = 5_000;

/** Tells whether the upstreams take connections. One of them is enough to be useful. */
export function createHealth(config: Config): { check(): Promise<Readiness> } {
  let last: { at: number; readiness: Promise<Readiness> } | undefined;

  async function probe(): Promise<Readiness> {
    const [v2, events] = await Promise.all(
      [config.baseUrl, config.eventBaseUrl].map((address) => reach(address, config)),
    );
    return { ready: !!v2 || !!events, upstreams: { v2: word(v2), events: word(events) } };
  }

  return {
    check() {
      const now = performance.now();
      if (!last || now - last.at > REMEMBERED_MS) last = { at: now, readiness: probe() };
      return last.readiness;
    },
  };
}

function word(reachable: boolean | undefined) {
  return reachable ? 'reachable' : 'unreachable';
}

function reach(address: string | undefined, { connectTimeoutMs }: Config): Promise<boolean> {
  if (!address) return Promise.resolve(false);
  const { hostname, port, protocol } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''), // an IPv6 address is bracketed in a URL alone
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
    });
    const done = (reachable: boolean) => {
      socket.destroy();
      resolve(reachable);
    };
    socket.setTimeout(connectTimeoutMs, () => done(false));
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
