/** What is allowed and seldom meant: the start warns of it. */
import { isIP } from 'node:net';
import { type ProxySettings, isExempt } from './proxy.ts';
import type { Config } from './settings.ts';

/** The names of the fixed tokens of the demo, which everybody knows. */
const DEMO_TOKEN = /^demo-[a-z]+$/;

type WarnedSettings = ProxySettings &
  Pick<
    Config,
    | 'production'
    | 'host'
    | 'trustedProxies'
    | 'corsOrigins'
    | 'ownOrigin'
    | 'demoTokens'
    | 'accessToken'
    | 'baseUrl'
    | 'eventBaseUrl'
  >;

/** `serves`: the servers that are started. */
export function startWarnings(config: WarnedSettings, serves: 'facade' | 'origin'): string[] {
  const { production, host, trustedProxies, corsOrigins, ownOrigin, demoTokens, accessToken } = config;
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
  if (production && demoTokens && (ownOrigin || !isFacade))
    warnings.push(
      'DEMO_TOKENS is on in production: everybody knows these tokens, and may write as the demo users. Set DEMO_TOKENS=off.',
    );
  else if (isFacade && production && accessToken !== undefined && DEMO_TOKEN.test(accessToken))
    warnings.push("ACCESS_TOKEN is a token of the demo in production: everybody knows it. Set the facade's own.");
  if (isFacade) warnings.push(...bypassed(config));
  return warnings;
}

/** Upstreams that a proxy would be used for, if they were at https://. */
const bypassed = ({ ownOrigin, baseUrl, eventBaseUrl, httpsProxy, httpProxy, noProxy }: WarnedSettings): string[] =>
  Object.entries({ BASE_URL: baseUrl, EVENT_BASE_URL: eventBaseUrl }).flatMap(([variable, address]) => {
    const hasProxy = (httpsProxy ?? httpProxy) !== undefined && !ownOrigin;
    if (!hasProxy || !address?.startsWith('http:') || isLoopback(new URL(address).hostname)) return [];
    if (isExempt(address, noProxy)) return [];
    return [
      `${variable} is at http://, so it is called without the proxy, which would read the tokens. Use https://, or name its host in NO_PROXY.`,
    ];
  });

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || /^\[?::1\]?$/.test(host) || (isIP(host) === 4 && host.startsWith('127.'));
