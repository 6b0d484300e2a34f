/** The proxy through which an upstream is called. */
import { isIP, isIPv6 } from 'node:net';
import type { Config } from './settings.ts';

export type ProxySettings = Pick<Config, 'httpsProxy' | 'httpProxy' | 'noProxy'>;

export interface Proxy {
  /** Without user and password. */
  address: URL;
  /** The value of Proxy-Authorization; undefined without a user. */
  authorization: string | undefined;
}

/**
 * The proxy for an address; undefined if it is called directly. An address at http:// is: a proxy would read the tokens. One at https:// is
 * called through a tunnel, in which the proxy sees the host alone.
 */
export function proxyFor(address: string, settings: ProxySettings): Proxy | undefined {
  const given = settings.httpsProxy ?? settings.httpProxy;
  if (given === undefined || !address.startsWith('https:') || isExempt(address, settings.noProxy)) return undefined;
  const url = new URL(given);
  const user = [url.username, url.password].map(decodeURIComponent).join(':');
  url.username = url.password = '';
  return {
    address: url,
    authorization: user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
  };
}

/** Whether NO_PROXY names the address: by `*`, an IP address, or a host and its subdomains with or without a dot; each with a port or without. */
function isExempt(address: string, noProxy = ''): boolean {
  const { hostname, port } = new URL(address);
  const host = bareHost(hostname);
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      // An IPv6 address may stand without brackets, if it has no port.
      const [, named = entry, onlyPort] = isIPv6(entry) ? [] : (/^(.*):(\d+)$/.exec(entry) ?? []);
      const name = bareHost(named.replace(/^\*?\./, ''));
      if (name === '' || (onlyPort !== undefined && onlyPort !== (port || '443'))) return false;
      return name === '*' || name === host || (isIP(host) === 0 && host.endsWith(`.${name}`));
    });
}

/** A host name may end in a dot. */
const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '').replace(/(?<=.)\.$/, '');
