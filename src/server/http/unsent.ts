/**
 * Counts the response bytes that clients have not read yet, over all connections.
 *
 * A client that does not read costs the memory of its response. All unread responses share one bound; past it, connections are cut until
 * the rest is within the bound, the one that has read nothing for the longest time first. A connection that reads nothing for
 * `connectionTimeoutMs` is cut in any case.
 */
import type { Socket } from 'node:net';
import type { Config } from '../../config/settings.ts';
import { type DeadlineQueue, type Deadline, type DeadlineListener, createDeadlineQueue } from '../../lib/deadlines.ts';
import { type QueueNode, type Queue, createQueue, append, unlink } from '../../lib/queue.ts';

type UnsentSettings = Pick<Config, 'maxUnsentBytes' | 'connectionTimeoutMs'>;

export interface UnsentBytes {
  /** Starts counting for a new connection. */
  open: (socket: Socket) => Backlog;
  bytes: () => number;
  /** Connections with unread bytes. */
  connections: () => number;
}

/** The unread bytes of one connection. */
export interface Backlog {
  /** Adds bytes that were written; a negative number removes bytes that the client has read. */
  change: (bytes: number) => void;
}

/** The sum over all connections. */
interface Account {
  /** Connections with unread bytes; the one that has read nothing for the longest time is first. */
  waiting: Queue<SocketBacklog>;
  deadlines: DeadlineQueue;
  bytes: number;
  onCut: () => void;
  /**
   * Cuts connections until the rest is within the bound. `added` is kept if `bytes`, just written, are all that it has: a response larger
   * than the bound can still be sent.
   */
  makeRoom: (added: SocketBacklog, bytes: number) => void;
}

/** `onCut` is called for each connection that is cut because its client does not read. */
export function createUnsentBytes(
  { maxUnsentBytes, connectionTimeoutMs }: UnsentSettings,
  onCut: () => void = () => undefined,
): UnsentBytes {
  const account: Account = {
    waiting: createQueue(),
    deadlines: createDeadlineQueue(connectionTimeoutMs),
    bytes: 0,
    onCut,
    makeRoom(added, bytes) {
      while (account.bytes > maxUnsentBytes) {
        const oldest = account.waiting.first?.item;
        if (!oldest || (oldest === added && oldest.isOnly(bytes))) return;
        oldest.cut();
      }
    },
  };

  return {
    open: (socket) => new SocketBacklog(socket, account),
    bytes: () => account.bytes,
    connections: () => account.waiting.size,
  };
}

class SocketBacklog implements Backlog, DeadlineListener {
  private readonly socket: Socket;
  private readonly account: Account;
  private bytes = 0;
  private node: QueueNode<SocketBacklog> | undefined;
  private deadline: Deadline | undefined;

  constructor(socket: Socket, account: Account) {
    this.socket = socket;
    this.account = account;
  }

  change(bytes: number): void {
    if (bytes === 0) return;
    if (this.socket.destroyed) return this.forget();
    const isFirst = this.bytes === 0;
    this.bytes += bytes;
    this.account.bytes += bytes;
    if (this.bytes <= 0) return this.forget();
    if (isFirst || bytes < 0) this.restart();
    if (bytes > 0) this.account.makeRoom(this, bytes);
  }

  /** True if there are no other unread bytes. */
  isOnly(bytes: number): boolean {
    return this.bytes === bytes;
  }

  onDeadline(): void {
    this.cut();
  }

  cut(): void {
    this.forget();
    this.account.onCut();
    this.socket.destroy();
  }

  private restart(): void {
    const { waiting, deadlines } = this.account;
    this.stopWaiting();
    this.node = append(waiting, this);
    this.deadline = deadlines.start(this);
  }

  private forget(): void {
    this.account.bytes -= this.bytes;
    this.bytes = 0;
    this.stopWaiting();
  }

  private stopWaiting(): void {
    if (this.node) unlink(this.account.waiting, this.node);
    if (this.deadline) this.account.deadlines.stop(this.deadline);
    this.node = this.deadline = undefined;
  }
}
