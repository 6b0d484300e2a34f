/**
 * The connections of clients: which of them are more than can be served soon, and which have been silent for too long.
 *
 * Node would wind a timer for each twice a request. Here all are looked at now and then, and only one that was silent since the last
 * look gets a timer: Node's own, which knows of a client that reads slowly and winds itself anew whenever anything comes or goes.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Queue, createQueue, itemsOf } from '../../lib/queue.ts';
import type { Exchange } from './exchange.ts';
import type { Backlog, UnsentBytes } from './unsent.ts';

/** What clients are told: longer than balancers keep theirs, which must be the ones to hang up. */
const KEPT_SECONDS = 65;
/** Longer than that, so that what is sent at the last moment does not meet the end. */
export const IDLE_MS = 1_000 * (KEPT_SECONDS + 1);
/** The header by which a client is told that its connection is kept, or that this was the last answer on it. */
export const KEEP_ALIVE = ['keep-alive', `timeout=${KEPT_SECONDS}`] as const;
export const CLOSE = ['connection', 'close'] as const;

export interface Connection {
  /** Past the number that can be served soon: a request waits on it until those of all others were read. */
  readonly isOverLimit: boolean;
  /** Requests being answered on this connection, oldest first. */
  readonly exchanges: Queue<Exchange>;
  /** Response bytes that the client has not read yet. */
  readonly backlog: Backlog;
}

export interface Connections {
  /** Undefined for a closed connection. */
  get: (socket: Socket) => Connection | undefined;
  size: () => number;
  /** Closes those over which nothing was ever sent: Node counts them neither as idle nor as busy. */
  closeUnused: () => void;
}

export interface ConnectionSettings {
  maxClientConnections: number;
  /** Silence after which one in use is cut, or up to a quarter more; where bytes wait for a client that does not read, up to twice that. */
  connectionTimeoutMs: number;
  /** The same for one that waits for its next request. */
  idleMs: number;
}

interface Watched extends Connection {
  /** Bytes that had come and gone at the last look. */
  moved: number;
  /** What its timer is set to; 0 for none. */
  timerMs: number;
}

const LOOKS = 4;

export function trackConnections(server: Server, settings: ConnectionSettings, unsent: UnsentBytes): Connections {
  const { maxClientConnections, connectionTimeoutMs, idleMs } = settings;
  const watched = new Map<Socket, Watched>();
  const lookMs = Math.min(connectionTimeoutMs, idleMs) / LOOKS;

  server.timeout = 0;
  server.keepAliveTimeout = 0;
  server.on('connection', (socket: Socket) => {
    const isOverLimit = watched.size >= maxClientConnections;
    const exchanges = createQueue<Exchange>();
    watched.set(socket, { isOverLimit, exchanges, backlog: unsent.open(socket), moved: 0, timerMs: 0 });
    socket.once('close', () => {
      watched.delete(socket);
      for (const exchange of itemsOf(exchanges)) exchange.close();
    });
  });
  // One that has no port has connections of its own kind, over which nobody is silent.
  server.on('listening', () => {
    const looking = setInterval(look, lookMs).unref();
    server.once('close', () => clearInterval(looking));
  });

  function look(): void {
    for (const [socket, connection] of watched) {
      const moved = socket.bytesRead + socket.bytesWritten;
      const isSilent = moved === connection.moved;
      const timerMs = isSilent ? (connection.exchanges.size > 0 ? connectionTimeoutMs : idleMs) - lookMs : 0;
      connection.moved = moved;
      if (timerMs === connection.timerMs) continue;
      connection.timerMs = timerMs;
      socket.setTimeout(timerMs);
    }
  }

  function closeUnused(): void {
    for (const socket of watched.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  return { get: (socket) => watched.get(socket), size: () => watched.size, closeUnused };
}
