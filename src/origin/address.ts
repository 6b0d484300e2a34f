import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';

/**
 * The base URL of links in the response to the current request. Links occur at every depth of records, also inside texts, so an
 * AsyncLocalStorage carries the base instead of a parameter of every rule.
 */
const base = new AsyncLocalStorage<string>();

/** Runs `work`; links in its records begin with `publicBase`. */
export function withAddress<T>(publicBase: string, work: () => T): T {
  return base.run(publicBase, work);
}

/** The absolute URL of a path of this service, for the client of the current request. Throws outside of a request. */
export function address(path: string): string {
  const publicBase = base.getStore();
  if (publicBase === undefined) throw new Error('address() was called outside of a request');
  return publicBase + path;
}

/**
 * The origin under which the client reached the service: from its Host header if that is valid, otherwise from the local end of the
 * connection. The listening address would not do: clients cannot connect to 0.0.0.0.
 */
export function addressOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
  return originOf(headers.host ?? '') ?? originOf(connectedTo(socket)) ?? 'http://localhost';
}

const HOST_MAX = 255;
const hostPattern = /^(?:[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?|\[[a-f\d:.]+\])(?::\d{1,5})?$/i;
const unspecified: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/** Clients choose their Host header, so only a name or an address with an optional port is accepted. */
function originOf(host: string): string | undefined {
  if (host.length > HOST_MAX || !hostPattern.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const { hostname, origin } = new URL(`http://${host}`);
  return unspecified.has(hostname) ? undefined : origin;
}

function connectedTo({ localAddress = '', localPort = 0 }: IncomingMessage['socket']): string {
  // On a dual-stack socket an IPv4 address is written as an IPv6 one.
  const plain = localAddress.replace(/^::ffff:(?=\d+\.)/i, '');
  return `${plain.includes(':') ? `[${plain}]` : plain}:${localPort}`;
}
