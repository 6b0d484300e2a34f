import { cancel } from '../../lib/cancellation.ts';
import { itemsOf } from '../../lib/queue.ts';
import type { HttpServer } from './http-server.ts';

/** For the responses of cancelled operations. The rest of ten seconds is for closing pools and the database. */
const CONNECTION_END_MS = 1_000;
/** How often idle connections are closed during the shutdown. */
const SWEEP_MS = 50;

/** Closes the port, finishes running requests, and cancels those that do not end within `ms`. */
export async function shutDown(http: HttpServer, ms: number): Promise<void> {
  const { server, pausedSockets, connections, running } = http;
  http.isClosing = true;
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
  if (!(await isDoneWithin(ms, closed))) {
    for (const { lifetime } of itemsOf(running)) cancel(lifetime, new Error('The server is shutting down.'));
    await isDoneWithin(CONNECTION_END_MS, closed);
    server.closeAllConnections();
    await closed;
  }
  clearInterval(sweep);
}

async function isDoneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
