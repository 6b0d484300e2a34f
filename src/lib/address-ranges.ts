/** Parses IP addresses and CIDR ranges of settings. */
import { isIP } from 'node:net';

export interface AddressRange {
  address: string;
  /** Length of the prefix, in bits. */
  bits: number;
  family: 'ipv4' | 'ipv6';
}

/** Reads `10.0.0.1`, `10.0.0.0/8` or `fd00::/8`; undefined for anything else. */
export function addressRange(text: string): AddressRange | undefined {
  const [, address = '', bits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  const longest = version === 6 ? 128 : 32;
  if (version === 0 || Number(bits ?? 0) > longest) return undefined;
  return { address, bits: bits === undefined ? longest : Number(bits), family: version === 6 ? 'ipv6' : 'ipv4' };
}
