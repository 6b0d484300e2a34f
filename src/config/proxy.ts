/** The proxy through which an upstream is called. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { addressRange } from '../lib/address-ranges.ts';
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

/** Whether NO_PROXY names the address: by `*`, a host and its subdomains with or without a dot, an IP address, or a range; each with a port or without. */
export function isExempt(address: string, noProxy: string | undefined): boolean {
  const { hostname, port, protocol } = new URL(address);
  const host = bareHost(hostname);
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return (noProxy ?? '').split(/[\s,]+/).some((entry) => {
    const [name, onlyPort] = splitPort(entry.toLowerCase());
    if (name === '' || (onlyPort !== undefined && onlyPort !== ownPort)) return false;
    if (name === '*' || name === host) return true;
    if (isIP(host)) return isInRange(host, name);
    const domain = name.replace(/^\*?\./, '');
    return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  });
}

/** An IPv6 address may stand without brackets, if it has no port. */
function splitPort(entry: string): [name: string, port: string | undefined] {
  const [address = ''] = entry.split('/');
  if (isIPv6(address)) return [entry, undefined];
  const [, name, port] = /^(.*):(\d+)$/.exec(entry) ?? [];
  return [bareHost(name ?? entry), port];
}

/** A host name may end in a dot. */
const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '').replace(/(?<=.)\.$/, '');

function isInRange(host: string, range: string): boolean {
  const found = addressRange(range);
  if (!found) return false;
  const list = new BlockList();
  list.addSubnet(found.address, found.bits, found.family);
  return list.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}
