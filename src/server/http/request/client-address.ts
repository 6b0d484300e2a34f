/** The address of the client: the peer of the connection, or the address that trusted proxies report. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { addressRange } from '../../../lib/address-ranges.ts';
import { addressIn } from '../../../lib/text/ip-address.ts';

/**
 * Each proxy appends the address that connected to it. Read from the end, the first address that is not a trusted proxy is the client;
 * anything before it was written by the client. `onUntrusted`: called with the first peer that reports one and is not trusted.
 */
export function clientAddress(trustedProxies: readonly string[], onUntrusted?: (peer: string) => void) {
  const trusted = new BlockList();
  for (const text of trustedProxies) {
    const range = addressRange(text);
    if (range) trusted.addSubnet(range.address, range.bits, range.family);
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return ({ socket: { remoteAddress = '', remotePort }, headers }: IncomingMessage): string => {
    const { 'x-forwarded-for': listed } = headers;
    const peer = trustedProxies.length === 0 ? undefined : addressIn(remoteAddress);
    if (peer === undefined || !isTrusted(peer)) {
      // A program that embeds the facade says who the client is: its connections have no port.
      if (remotePort !== undefined && listed !== undefined) {
        onUntrusted?.(remoteAddress);
        onUntrusted = undefined;
      }
      return peer ?? remoteAddress;
    }
    const hops = listed === undefined ? [] : String(listed).split(',');
    let client = peer;
    for (let at = hops.length - 1; at >= 0 && isTrusted(client); at--) {
      const hop = addressIn(hops[at]!);
      if (hop === undefined) return client; // no address: count the proxy that reported it
      client = hop;
    }
    return client;
  };
}
