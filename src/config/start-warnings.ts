/** What is allowed and seldom meant: the start and the doctor warn of it. The last sentence of each warning says what to do. */
import { isIP } from 'node:net';
import { BEGINS_WITHIN_MS, fixed } from './fixed.ts';
import type { Config } from './settings.ts';

/** The names of the fixed tokens of the demo, which everybody knows. */
const DEMO_TOKEN = /^demo-[a-z]+$/;

type WarnedSettings = Pick<
  Config,
  | 'production'
  | 'host'
  | 'trustedProxies'
  | 'corsOrigins'
  | 'ownOrigin'
  | 'demo'
  | 'accessToken'
  | 'filmTier'
  | 'idempotencyTtlSeconds'
  | 'upstreamSettleMs'
  | 'callTimeoutMs'
>;

/** `serves`: the servers that are started. */
export function startWarnings(config: WarnedSettings, serves: 'facade' | 'origin'): string[] {
  const { production, host, trustedProxies, corsOrigins, ownOrigin, demo, accessToken, filmTier } = config;
  const warnings: string[] = [];
  const isFacade = serves === 'facade';
  if (isFacade && !isLoopback(host) && trustedProxies.length === 0)
    warnings.push(
      `HOST=${host} can be reached from other machines, and TRUSTED_PROXIES is not set: without a proxy in front there is no TLS, and behind one all clients share the limit of one address. Set TRUSTED_PROXIES to the proxy.`,
    );
  const anyPort = corsOrigins.filter((origin) => origin.endsWith(':*'));
  if (isFacade && production && anyPort.length > 0)
    warnings.push(
      `CORS_ORIGINS has ${anyPort.join(', ')} in production: every program on a client's machine that serves a page there may send requests. Name the ports.`,
    );
  if (production && demo && (ownOrigin || !isFacade))
    warnings.push(
      'DEMO is on in production: everybody knows the tokens of the demo, and may write as its users. Set DEMO=off.',
    );
  else if (isFacade && production && accessToken !== undefined && DEMO_TOKEN.test(accessToken))
    warnings.push("ACCESS_TOKEN is a token of the demo in production: everybody knows it. Set the facade's own.");
  if (isFacade && accessToken !== undefined && filmTier === undefined)
    warnings.push(
      'FILM_TIER is not set: film calls with ACCESS_TOKEN are limited as those of the basic tier until a response shows another. Set FILM_TIER.',
    );
  if (isFacade) warnings.push(...shortKeys(config));
  return warnings;
}

/** A key is forgotten before a write with it must have ended. */
function shortKeys({ idempotencyTtlSeconds, upstreamSettleMs, callTimeoutMs }: WarnedSettings): string[] {
  const longestWriteMs = BEGINS_WITHIN_MS + upstreamSettleMs + callTimeoutMs + fixed.uploadTimeoutMs;
  if (idempotencyTtlSeconds === 0 || 1_000 * idempotencyTtlSeconds >= longestWriteMs) return [];
  return [
    `IDEMPOTENCY_TTL_SECONDS is shorter than UPSTREAM_SETTLE_MS, CALL_TIMEOUT_MS and ${fixed.uploadTimeoutMs} ms for uploads together: a write whose response is lost may be made twice with one key. Change one of them.`,
  ];
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || /^\[?::1\]?$/.test(host) || (isIP(host) === 4 && host.startsWith('127.'));
