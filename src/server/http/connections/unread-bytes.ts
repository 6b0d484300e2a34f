/**
 * Counts the response bytes that clients have not read yet, over all connections.
 *
 * A client that does not read costs the memory of its response. All unread responses share one bound; past it, connections are cut until
 * the rest is within the bound, the one that has read nothing for the longest time first. A connection that reads nothing for
 * `connectionTimeoutMs` is cut in any case.
 */
import type { Socket } from 'node:net';
import type { Config } from '../../../config/settings.ts';
import { afterPendingReads } from '../../../lib/event-loop.ts';

/** The sum over all connections. */
export class UnreadBytes {
  bytes = 0;
  /** The connections with unread bytes, the one that has read nothing for the longest time first. */
  readonly backlogs = new Set<Backlog>();
  readonly timeoutMs: number;
  readonly onCut: () => void;
  private readonly maxBytes: number;

  /** `onCut` is called for each connection that is cut because its client does not read. */
  constructor(
    { maxUnsentBytes, connectionTimeoutMs }: Pick<Config, 'maxUnsentBytes' | 'connectionTimeoutMs'>,
    onCut: () => void = () => undefined,
  ) {
    this.maxBytes = maxUnsentBytes;
    this.timeoutMs = connectionTimeoutMs;
    this.onCut = onCut;
  }

  /**
   * Closes connections until the rest is within the bound. `added` is kept if `bytes`, just written, are all that it has: a response larger
   * than the bound can still be sent.
   */
  makeRoom(added: Backlog, bytes: number): void {
    while (this.bytes > this.maxBytes) {
      const [oldest] = this.backlogs;
      if (!oldest || (oldest === added && added.bytes === bytes)) return;
      oldest.cut();
    }
  }
}

/** The unread bytes of one connection. */
export class Backlog {
  bytes = 0;
  private readonly socket: Socket;
  private readonly all: UnreadBytes;
  private deadline: NodeJS.Timeout | undefined;

  constructor(socket: Socket, all: UnreadBytes) {
    this.socket = socket;
    this.all = all;
  }

  /** Adds bytes that were written; a negative number removes bytes that the client has read. */
  change(bytes: number): void {
    if (bytes === 0) return;
    if (this.socket.destroyed) return this.forget();
    const isFirst = this.bytes === 0;
    this.bytes += bytes;
    this.all.bytes += bytes;
    if (this.bytes <= 0) return this.forget();
    if (isFirst || bytes < 0) {
      this.stopDeadline();
      this.startDeadline();
    }
    if (bytes > 0) this.all.makeRoom(this, bytes);
  }

  /** Cuts the connection. */
  cut(): void {
    this.forget();
    this.all.onCut();
    this.socket.destroy();
  }

  private forget(): void {
    this.all.bytes -= this.bytes;
    this.bytes = 0;
    this.stopDeadline();
  }

  private startDeadline(): void {
    const deadline = setTimeout(afterPendingReads, this.all.timeoutMs, () => {
      if (this.deadline === deadline) this.cut();
    }).unref();
    this.deadline = deadline;
    this.all.backlogs.add(this);
  }

  private stopDeadline(): void {
    clearTimeout(this.deadline);
    this.deadline = undefined;
    this.all.backlogs.delete(this);
  }
}
