/** Addresses of clients, as sockets and proxies spell them. */
import { isIP } from 'node:net';
import { remembering } from '../remember.ts';

/** What one client has: an IPv4 address, or the network (/64) of an IPv6 address, of which it can use all others. Other texts as they are. */
export const networkOf = remembering((text = ''): string => {
  const address = addressIn(text) ?? text;
  if (isIP(address) !== 6) return address;
  const groups = /[^:]+/g;
  const zeros = 8 - (address.match(groups)?.length ?? 0);
  const spelledOut = address.replace('::', `:${'0:'.repeat(zeros)}`);
  return `${spelledOut.match(groups)!.slice(0, 4).join(':')}::/64`;
});

/** An IP address without brackets and port, in one spelling, IPv4 in IPv6 as IPv4; undefined for anything else. */
export function addressIn(text: string): string | undefined {
  const bare = /^\s*(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5}|(\S+))\s*$/.exec(text);
  const address = bare?.[1] ?? bare?.[2] ?? bare?.[3] ?? '';
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined;
  // As URLs spell it, without a zone.
  const ipv6 = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1);
  // Of a dual-stack socket, or of a translator (RFC 6052): all IPv4 addresses are in one network there.
  const ipv4 = /^(?:::ffff:|64:ff9b::)([\da-f]+):([\da-f]+)$/.exec(ipv6)?.slice(1);
  if (!ipv4) return ipv6;
  return ipv4.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.');
}
