/** Makes the connections to one upstream: directly, or through a proxy. */
// By its file: for the bare name Bun has a stub of its own, without dispatch.
import { type Dispatcher, Pool, ProxyAgent, errors } from 'undici/index.js';
import { type ProxySettings, proxyFor } from '../../config/proxy.ts';
import type { Config } from '../../config/settings.ts';
import type { TlsFiles } from '../../config/upstream-tls.ts';
import { lookup } from '../../lib/lookup.ts';

export type { Dispatcher };

export type DispatcherSettings = ProxySettings &
  Pick<Config, 'maxConnections' | 'connectTimeoutMs' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'maxHeaderBytes'>;

/** Requests of a connection: then another is made, which finds the address that the name has by then. */
export const REQUESTS_MAX = 1_000;

/** `bodies`: the most bytes of a response; none if whoever reads it counts them. */
export function createDispatcher(
  origin: string,
  settings: DispatcherSettings,
  tls: TlsFiles,
  bodies?: { maxResponseSize: number },
): Dispatcher {
  const timeout = settings.connectTimeoutMs;
  const limits = {
    connections: settings.maxConnections,
    headersTimeout: settings.headersTimeoutMs,
    bodyTimeout: settings.bodyTimeoutMs,
    maxHeaderSize: settings.maxHeaderBytes,
    maxRequestsPerClient: REQUESTS_MAX,
    ...bodies,
  };
  const proxy = proxyFor(origin, settings);
  if (!proxy) return new Pool(origin, { ...limits, connect: { timeout, lookup, ...tls } });
  const { address, authorization } = proxy;
  return new ProxyAgent({
    ...limits,
    uri: address.href,
    ...(authorization !== undefined && { token: authorization }),
    proxyTls: { timeout, lookup },
    requestTls: { timeout, ...tls },
    // A proxy that does not answer CONNECT is one that cannot be reached.
    clientFactory: (to, options) => new ProxyPool(to, { ...options, headersTimeout: timeout }),
  });
}

/** Connections to the proxy. The client of a tunnel takes a SocketError for one of its own connection, and asks for a tunnel again at once, without end. */
class ProxyPool extends Pool {
  override connect(options: Parameters<Pool['connect']>[0]): Promise<Dispatcher.ConnectData> {
    return super.connect(options).catch((error: unknown) => {
      if (!(error instanceof errors.SocketError || error instanceof errors.InformationalError)) throw error;
      throw Object.assign(new Error('The proxy closed the connection.', { cause: error }), { code: 'ECONNABORTED' });
    });
  }
}
