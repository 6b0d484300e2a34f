/** Tracks the connections of clients, and marks those over the limit. Node closes those that are idle for too long. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange } from '../exchange.ts';
import { Backlog, type UnreadBytes } from './unread-bytes.ts';

/** Sent to clients; Node closes a second later. Longer than load balancers keep a connection, because the balancer must be the one to close. */
const KEPT_MS = 65_000;
/** The header of a response after which the connection is closed. */
export const CLOSE = ['connection', 'close'] as const;

export type Connection = ReturnType<typeof createConnection>;

export type Connections = ReturnType<typeof trackConnections>;

export interface ConnectionSettings {
  maxClientConnections: number;
  /** Idle time after which a connection with a running request is closed, twice as long if the client does not read. */
  connectionTimeoutMs: number;
}

export function trackConnections(server: Server, settings: ConnectionSettings, unsent: UnreadBytes) {
  const { maxClientConnections, connectionTimeoutMs } = settings;
  const tracked = new Map<Socket, Connection>();

  server.timeout = connectionTimeoutMs;
  server.keepAliveTimeout = KEPT_MS;
  server.on('connection', (socket: Socket) => {
    const isOverLimit = tracked.size >= maxClientConnections;
    const connection = createConnection(isOverLimit, new Backlog(socket, unsent));
    tracked.set(socket, connection);
    socket.once('close', () => {
      tracked.delete(socket);
      for (const exchange of [...connection.exchanges]) exchange.close();
    });
  });
  return {
    /** All that are not closed. */
    open: tracked as ReadonlyMap<Socket, Connection>,
    size: () => tracked.size,
    /** Requests that are being answered. */
    exchanges: (): Exchange[] => [...tracked.values()].flatMap(({ exchanges }) => exchanges),
    /** Connections without a request close when they are idle for so long. */
    limitIdle(idleMs: number): void {
      for (const [socket, { exchanges }] of tracked) {
        const ms = exchanges.length === 0 ? idleMs : connectionTimeoutMs;
        if (socket.timeout !== ms) socket.setTimeout(ms);
      }
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
});
