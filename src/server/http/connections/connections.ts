/** Tracks the connections of clients, and marks those over the limit. Node closes those that are idle for too long. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterPendingReads } from '../../../lib/event-loop.ts';
import type { Exchange } from '../exchange.ts';
import type { UnreadBytes } from './unread-bytes.ts';

/** Sent to clients; Node closes a second later. Longer than load balancers keep a connection, because the balancer must be the one to close. */
const KEPT_MS = 65_000;
/** The header of a response after which the connection is closed. */
export const CLOSE = ['connection', 'close'] as const;
/** A connection on which more requests wait is closed. */
const MAX_PIPELINED = 2_000;

export type Connections = ReturnType<typeof trackConnections>;

export interface ConnectionSettings {
  maxClientConnections: number;
  /** Idle time after which a connection with a running request is closed, twice as long if the client does not read. */
  connectionTimeoutMs: number;
}

export function trackConnections(server: Server, settings: ConnectionSettings, unread: UnreadBytes) {
  const { maxClientConnections, connectionTimeoutMs } = settings;
  const tracked = new Map<Socket, Connection>();

  server.timeout = connectionTimeoutMs;
  server.keepAliveTimeout = KEPT_MS;
  // A request that arrived while this process was busy is read first.
  server.on('timeout', (socket: Socket) => {
    const { bytesRead } = socket;
    afterPendingReads(() => socket.bytesRead === bytesRead && unread.cut(socket));
  });
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, tracked.size >= maxClientConnections);
    tracked.set(socket, connection);
    socket.once('close', () => {
      tracked.delete(socket);
      connection.end();
    });
  });
  return {
    /** All that are not closed. */
    open: tracked as ReadonlyMap<Socket, Connection>,
    size: () => tracked.size,
    /** Requests that are being answered. */
    exchanges: (): Exchange[] => [...tracked.values()].flatMap(({ exchange }) => exchange ?? []),
    /** Connections without a request close when they are idle for so long. */
    limitIdle(idleMs: number): void {
      for (const [socket, { exchange }] of tracked) {
        const ms = exchange ? connectionTimeoutMs : idleMs;
        if (socket.timeout !== ms) socket.setTimeout(ms);
      }
    },
  };
}

/** A connection. Its requests are answered one after the other: Node passes on all of a chunk at once, which may be a thousand. */
export class Connection {
  /** Opened when there were `maxClientConnections` already. Its requests are rejected as overload. */
  readonly isOverLimit: boolean;
  /** No further request can be read; it closes when the complete ones are answered. */
  isBroken = false;
  /** The request that is being answered. */
  exchange: Exchange | undefined;
  private readonly socket: Socket;
  private readonly waiting: (() => void)[] = [];
  private isBusy = false;

  constructor(socket: Socket, isOverLimit: boolean) {
    this.socket = socket;
    this.isOverLimit = isOverLimit;
  }

  /** Calls the function when what came before is answered. What it begins ends with `next`. */
  inTurn(begin: () => void): void {
    if (this.isBusy) {
      if (this.waiting.push(begin) > MAX_PIPELINED) this.socket.destroy();
      return;
    }
    this.isBusy = true;
    begin();
  }

  /** Begins what waits: in a later tick of the event loop, so that many short requests do not hold it. */
  next(): void {
    const begin = this.waiting.shift();
    if (begin) setImmediate(begin);
    else this.isBusy = false;
  }

  /** The connection is closed. */
  end(): void {
    this.waiting.length = 0;
    this.exchange?.close();
  }
}
