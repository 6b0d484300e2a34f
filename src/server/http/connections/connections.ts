/**
 * Tracks the connections of clients: marks those over the limit, and closes those that are idle for too long.
 *
 * Node would restart a timer of each connection twice a request. Here all connections are checked at intervals, and only one that was
 * idle since the last check gets a timer. That timer is Node's own, which restarts when bytes are read or written.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange } from '../exchange.ts';
import { Backlog, type UnreadBytes } from './unread-bytes.ts';

/** Sent to clients. It is longer than the idle timeout of load balancers, because the balancer must be the one to close. */
const KEPT_SECONDS = 65;
/** Longer than what is sent, so that a request sent at the last moment does not meet a closed connection. */
export const IDLE_MS = 1_000 * (KEPT_SECONDS + 1);
/** The header of a response after which the connection is kept, or closed. */
export const KEEP_ALIVE = ['keep-alive', `timeout=${KEPT_SECONDS}`] as const;
export const CLOSE = ['connection', 'close'] as const;

export type Connection = ReturnType<typeof createConnection>;

export type Connections = ReturnType<typeof trackConnections>;

export interface ConnectionSettings {
  maxClientConnections: number;
  /**
   * Idle time after which a connection with a running request is closed. It may take a quarter longer, and up to twice as long if the
   * client does not read.
   */
  connectionTimeoutMs: number;
  /** How long a connection may wait for its next request. */
  idleMs: number;
}

const CHECKS_PER_TIMEOUT = 4;

export function trackConnections(server: Server, settings: ConnectionSettings, unsent: UnreadBytes) {
  const { maxClientConnections, connectionTimeoutMs, idleMs } = settings;
  const tracked = new Map<Socket, Connection>();
  const checkMs = Math.min(connectionTimeoutMs, idleMs) / CHECKS_PER_TIMEOUT;

  server.timeout = 0;
  server.keepAliveTimeout = 0;
  server.on('connection', (socket: Socket) => {
    const isOverLimit = tracked.size >= maxClientConnections;
    const connection = createConnection(isOverLimit, new Backlog(socket, unsent));
    tracked.set(socket, connection);
    socket.once('close', () => {
      tracked.delete(socket);
      for (const exchange of [...connection.exchanges]) exchange.close();
    });
  });
  // A server without a port has in-memory connections, which need no timeout.
  server.on('listening', () => {
    const timer = setInterval(checkAll, checkMs).unref();
    server.once('close', () => clearInterval(timer));
  });

  function checkAll(): void {
    for (const [socket, connection] of tracked) {
      const bytes = socket.bytesRead + socket.bytesWritten;
      const isIdle = bytes === connection.bytes;
      const timerMs = isIdle ? (connection.exchanges.length > 0 ? connectionTimeoutMs : idleMs) - checkMs : 0;
      connection.bytes = bytes;
      if (timerMs === connection.timerMs) continue;
      connection.timerMs = timerMs;
      socket.setTimeout(timerMs);
    }
  }

  return {
    /** All that are not closed. */
    open: tracked as ReadonlyMap<Socket, Connection>,
    size: () => tracked.size,
    /** Requests that are being answered. */
    exchanges: (): Exchange[] => [...tracked.values()].flatMap(({ exchanges }) => exchanges),
    /** Closes connections that have had no request and no byte for so long. */
    closeQuiet(quietMs: number): void {
      const now = performance.now();
      for (const [socket, connection] of tracked) {
        const bytes = socket.bytesRead + socket.bytesWritten;
        const isQuiet = bytes === connection.quiet?.bytes && connection.exchanges.length === 0;
        if (!isQuiet) connection.quiet = { bytes, since: now };
        else if (now - connection.quiet!.since >= quietMs) socket.destroy();
      }
    },
    /** Closes connections that never sent a byte. Node counts them neither as idle nor as active. */
    closeUnused(): void {
      for (const socket of tracked.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

const createConnection = (isOverLimit: boolean, backlog: Backlog) => ({
  /** Opened when there were `maxClientConnections` already. Its requests are rejected as overload. */
  isOverLimit,
  /** No further request can be read; it closes when the complete ones are answered. */
  isBroken: false,
  backlog,
  /** Starts the pipelined requests that wait until earlier ones are answered, oldest first. */
  postponed: [] as (() => void)[],
  /** Requests being answered on this connection, oldest first. */
  exchanges: [] as Exchange[],
  /** Bytes read and written until the last check. */
  bytes: 0,
  /** The timeout of the socket; 0 for none. */
  timerMs: 0,
  /** At the shutdown: its bytes, and since when it has had no others. */
  quiet: undefined as { bytes: number; since: number } | undefined,
});
