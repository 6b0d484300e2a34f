import { setTimeout } from 'node:timers/promises';
import type { Config } from '../../../config/settings.ts';
import { cancel } from '../../../lib/cancellation.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import type { HttpServer } from './http-server.ts';

/** For the responses of cancelled operations. The rest of ten seconds is for closing pools and the database. */
const CONNECTION_END_MS = 1_000;
/** How often idle connections are closed during the shutdown. */
const SWEEP_MS = 50;

/**
 * Closes the port, finishes running requests, and cancels those that do not end within `shutdownMs`. Before that, for `drainMs`, the port
 * stays open: load balancers learn from /ready that they must send no more requests.
 */
export async function shutDown(
  http: HttpServer,
  { drainMs, shutdownMs }: Pick<Config, 'drainMs' | 'shutdownMs'>,
): Promise<void> {
  const { server, pausedSockets, connections } = http;
  http.isClosing = true;
  if (drainMs > 0) await setTimeout(drainMs);
  if (pausedSockets.size() > 0) {
    pausedSockets.resumeAll();
    // Requests that wait on these connections are read in the next turn. Closing the connections before would lose them.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // `close` looks once only: a busy connection becomes idle later, and a new one may have sent nothing yet.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    connections.closeUnused();
  }, SWEEP_MS);
  if (!(await settlesWithin(shutdownMs, closed))) {
    for (const { lifetime } of connections.exchanges()) cancel(lifetime, new Error('The server is shutting down.'));
    await settlesWithin(CONNECTION_END_MS, closed);
    server.closeAllConnections();
    await closed;
  }
  clearInterval(sweep);
}
