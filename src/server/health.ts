import { once } from 'node:events';
import { connect } from 'node:net';
import { type ProxySettings, proxyFor } from '../config/proxy.ts';
import type { Config } from '../config/settings.ts';
import { lookup } from '../lib/lookup.ts';
import { settlesWithin } from '../lib/promises.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { Service } from '../upstream/errors.ts';

/** How long a result is used again. Load balancers probe often, and each probe must not open a connection. */
const REMEMBERED_MS = 5_000;
/** How long a caller waits for a connection: probes of load balancers give up after a second. */
const PATIENCE_MS = 500;

/** `unknown`: not connected yet, and not failed. */
export type Reachability = 'reachable' | 'unreachable' | 'unknown';
export type UpstreamHealth = Readonly<Record<Service, Reachability>>;
export type CheckHealth = () => Promise<UpstreamHealth>;

type HealthSettings = ProxySettings & Pick<Config, 'connectTimeoutMs'>;

/** Whether the upstreams can be reached: not if one accepts no connection, or while its circuit breaker is open. */
export function createHealth(config: HealthSettings, upstream: Pick<UpstreamClient, 'state'>): CheckHealth {
  const checks = Object.entries(upstream.state()).map(
    ([service, { origin }]) => [service, createCheck(origin, config)] as const,
  );
  return async () => {
    const found = await Promise.all(checks.map(async ([service, check]) => [service, await check()] as const));
    const state = upstream.state();
    return Object.fromEntries(
      found.map(([service, last]) => [service, state[service]!.isOpen ? 'unreachable' : last]),
    ) as UpstreamHealth;
  };
}

/** The last result. An older one is renewed, and is used meanwhile if that takes long. */
function createCheck(address: string, config: HealthSettings) {
  let last: Reachability = 'unknown';
  let begunAt = -Infinity;
  let probe: Promise<void> = Promise.resolve();
  let isProbing = false;

  async function renew(): Promise<void> {
    last = (await canConnect(address, config)) ? 'reachable' : 'unreachable';
    isProbing = false;
  }

  return async (): Promise<Reachability> => {
    const now = performance.now();
    if (!isProbing && now - begunAt > REMEMBERED_MS) {
      isProbing = true;
      begunAt = now;
      probe = renew();
    }
    await settlesWithin(PATIENCE_MS, probe);
    return last;
  };
}

/** Through a proxy only that can be reached: whether the upstream can is seen by calls. */
async function canConnect(address: string, config: HealthSettings): Promise<boolean> {
  const { hostname, port, protocol } = proxyFor(address, config)?.address ?? new URL(address);
  const socket = connect({
    lookup,
    host: hostname.replace(/^\[|\]$/g, ''), // an IPv6 address is bracketed in a URL alone
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  });
  try {
    return await settlesWithin(config.connectTimeoutMs, once(socket, 'connect'));
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
