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
