import { Server } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Config } from '../../../config/settings.ts';
import { cancel } from '../../../lib/cancellation.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import type { HttpServer } from './http-server.ts';

/** For the responses of cancelled operations. The rest of ten seconds is for closing pools and the database. */
const CONNECTION_END_MS = 1_000;
/** How often it is checked which connections are idle. */
const SWEEP_MS = 50;
/** How long one is idle before it is closed: longer than between two checks, so that none with a new request is. */
const IDLE_MS = 2 * SWEEP_MS;
/** With `drainMs`: how long a connection is idle before it is closed, and how long connections are kept before the port closes. */
const QUIET_MS = 1_000;

/**
 * Closes the port, finishes running requests, and cancels those that do not end within `shutdownMs`. Before that, for `drainMs`, the port
 * stays open: load balancers learn from /ready that they must send no more requests.
 *
 * At first each connection closes after its response, so that clients move to other replicas. But a proxy that does not ask /ready goes on
 * sending, and a POST on a connection that is closed before it was accepted, or while it is idle, is lost: the proxy may not send it twice.
 * So at the end of `drainMs` connections are kept, because then the proxy opens few new ones. When the port is closed, a new connection is
 * refused, which the proxy knows before it sends anything; an open one closes after its next response, or when it is idle for a while.
 */
export async function shutDown(
  http: HttpServer,
  { drainMs, shutdownMs }: Pick<Config, 'drainMs' | 'shutdownMs'>,
): Promise<void> {
  const { server, connections } = http;
  http.isDraining = true;
  const quietMs = Math.min(drainMs / 2, QUIET_MS);
  http.isClosing = true;
  if (drainMs > 0) {
    await setTimeout(drainMs - quietMs);
    http.isClosing = false;
    await setTimeout(quietMs);
    // In this phase of the event loop, connections that have arrived were accepted a moment ago.
    await setImmediate();
    http.isClosing = true;
  }
  // That of HTTP servers would close idle connections.
  const closed = new Promise<void>((resolve) => Server.prototype.close.call(server, () => resolve()));
  // A busy connection becomes idle later, and a new one may have sent nothing yet.
  const sweep = setInterval(() => connections.limitIdle(Math.max(IDLE_MS, quietMs)), SWEEP_MS);
  if (!(await settlesWithin(shutdownMs, closed))) {
    for (const { lifetime } of connections.exchanges()) cancel(lifetime, new Error('The server is shutting down.'));
    await settlesWithin(CONNECTION_END_MS, closed);
    server.closeAllConnections();
    await closed;
  }
  clearInterval(sweep);
  server.close(); // the timers of an HTTP server
}
