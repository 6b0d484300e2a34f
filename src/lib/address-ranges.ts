/** Parses IP addresses and CIDR ranges of settings. */
import { isIP } from 'node:net';

/** Reads `10.0.0.1`, `10.0.0.0/8` or `fd00::/8`, with the length of the prefix in bits; undefined for anything else. */
export function addressRange(text: string) {
  const [, address = '', prefix] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  const longest = version === 6 ? 128 : 32;
  const bits = Number(prefix ?? longest);
  if (version === 0 || bits > longest) return undefined;
  return { address, bits, family: version === 6 ? 'ipv6' : 'ipv4' } as const;
}

/** What one client has: an IPv4 address, or the network (/64) of an IPv6 address, of which it can use all others. In one spelling; other texts as they are. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  return ipv4In(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/** In one spelling, IPv4 in IPv6 as IPv4; undefined for anything else. */
export function ipAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version !== 6) return version === 4 ? text : undefined;
  return ipv4In(groupsOf(text)) ?? spelled(text);
}

/** As URLs spell it, without a zone. */
const spelled = (ipv6: string): string => new URL(`http://[${ipv6.replace(/%.*/, '')}]`).hostname.slice(1, -1);

/** The eight numbers of an IPv6 address. */
function groupsOf(ipv6: string): string[] {
  const [left = [], right = []] = spelled(ipv6)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
}

/** Of a dual-stack socket, or of a translator (RFC 6052): all IPv4 addresses are in one network there. */
function ipv4In(groups: readonly string[]): string | undefined {
  const prefix = groups.slice(0, 6).join(':');
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return undefined;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((number) => [number >> 8, number & 255])
    .join('.');
}
