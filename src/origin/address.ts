import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';

/**
 * The base of the addresses in the response to the current request. Records hold such addresses at every depth, also inside texts, so
 * the base is kept beside the request instead of being passed through every rule.
 */
const base = new AsyncLocalStorage<string>();

/** Runs `work` with the addresses in its records beginning with `publicBase`. */
export function withAddress<T>(publicBase: string, work: () => T): T {
  return base.run(publicBase, work);
}

/** The public address of a path of this service, for the client of the current request. */
export function address(path: string): string {
  const publicBase = base.getStore();
  if (publicBase === undefined) throw new Error('there is no request whose client could use an address');
  return publicBase + path;
}

/**
 * The address under which the client of this request reached the service: its Host where that is one, otherwise the end of the
 * connection. Never the address that is listened on: 0.0.0.0 leads nowhere.
 */
export function addressOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
  return originOf(headers.host ?? '') ?? originOf(connectedTo(socket)) ?? 'http://localhost';
}

const HOST_MAX = 255;
const hostPattern = /^(?:[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?|\[[a-f\d:.]+\])(?::\d{1,5})?$/i;
const unspecified: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/** The client chooses its Host: only a name or an address with an optional port is used. */
function originOf(host: string): string | undefined {
  if (host.length > HOST_MAX || !hostPattern.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const { hostname, origin } = new URL(`http://${host}`);
  return unspecified.has(hostname) ? undefined : origin;
}

function connectedTo({ localAddress = '', localPort = 0 }: IncomingMessage['socket']): string {
  // An IPv4 client of a socket that takes both kinds has an address of both kinds.
  const plain = localAddress.replace(/^::ffff:(?=\d+\.)/i, '');
  return `${plain.includes(':') ? `[${plain}]` : plain}:${localPort}`;
}
