/**
 * Counts the response bytes that clients have not read yet, over all connections, and those of bodies that are not complete.
 *
 * A client that does not read costs the memory of its response. All share one bound; past it, connections are cut until the rest is within
 * the bound, the one that has read nothing for the longest time first.
 */
import type { Duplex } from 'node:stream';
import type { Config } from '../../../config/settings.ts';

export class UnreadBytes {
  /** The sum over all connections. */
  bytes = 0;
  /** By connection, the one that has read nothing for the longest time first. */
  private readonly bySocket = new Map<Duplex, number>();
  private readonly maxBytes: number;
  private readonly onCut: () => void;

  /** `onCut` is called for each connection that is cut because its client does not read. */
  constructor({ maxUnsentBytes }: Pick<Config, 'maxUnsentBytes'>, onCut: () => void) {
    this.maxBytes = maxUnsentBytes;
    this.onCut = onCut;
  }

  /** Sets the unread bytes of a connection. A response larger than the bound can still be sent, while nothing else is unread. */
  set(socket: Duplex, bytes: number): void {
    const before = this.bySocket.get(socket) ?? 0;
    if (bytes === before || (bytes > 0 && socket.destroyed)) return;
    this.bytes += bytes - before;
    if (bytes < before) this.bySocket.delete(socket); // some were read, so it becomes the last
    if (bytes > 0) this.bySocket.set(socket, bytes);
    for (const [oldest] of this.bySocket) {
      if (this.bytes <= this.maxBytes || this.bySocket.size === 1) return;
      this.cut(oldest);
    }
  }

  /** Ends a connection: of a client that does not read, or of one that sends nothing. */
  cut(socket: Duplex): void {
    if (this.bySocket.has(socket)) this.onCut();
    this.set(socket, 0);
    socket.destroy();
  }
}
