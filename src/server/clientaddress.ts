/** The address of the client: that of the connection, or what trusted proxies tell of theirs. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { addressRange } from '../addressranges.ts';

/**
 * Each hop names who connected to it, the last one at the end. From there back as far as proxies are trusted: the first that is not is the
 * client. What stands before it, the client wrote.
 */
export function clientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = new BlockList();
  for (const text of trustedProxies) {
    const range = addressRange(text);
    if (range) trusted.addSubnet(range.address, range.bits, range.family);
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return ({ socket, headers }) => {
    const { remoteAddress = '' } = socket;
    const peer = trustedProxies.length === 0 ? undefined : addressIn(remoteAddress);
    if (peer === undefined || !isTrusted(peer)) return peer ?? remoteAddress;
    const hopsBefore = (hops: readonly string[]) => {
      let client = peer;
      for (let at = hops.length - 1; at >= 0 && isTrusted(client); at--) {
        const hop = addressIn(hops[at]!);
        if (hop === undefined) return client; // nobody knows who that is: the proxy that says so stands for it
        client = hop;
      }
      return client;
    };
    const listed = one(headers['x-forwarded-for']);
    const told = one(headers.forwarded);
    const byList = listed === undefined ? undefined : hopsBefore(listed.split(','));
    const byForwarded = told === undefined ? undefined : hopsBefore(told.split(',').map(forIn));
    // A proxy writes one of them and may let the client's own pass as the other: of two that differ, neither is believed.
    if (byList !== undefined && byForwarded !== undefined && byList !== byForwarded) return peer;
    return byList ?? byForwarded ?? peer;
  };
}

const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

/** The `for` of an element of Forwarded: `for=192.0.2.1;proto=https`, `for="[2001:db8::1]:4711"`. */
const forIn = (element: string): string => /(?:^|;)\s*for=\s*"?([^;"\s]*)"?/i.exec(element)?.[1] ?? '';

/** An address without brackets and port, one form for each; undefined for anything else. */
function addressIn(text: string): string | undefined {
  const bare = /^\s*(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5}|(\S+))\s*$/.exec(text);
  const address = (bare?.[1] ?? bare?.[2] ?? bare?.[3] ?? '').toLowerCase();
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1] ?? address; // IPv4 on a socket that takes both
  return isIP(mapped) === 0 ? undefined : mapped;
}
