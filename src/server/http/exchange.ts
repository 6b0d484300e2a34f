import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CancellationToken, createCancellationToken } from '../../lib/cancellation.ts';
import type { Compression } from './response/compression.ts';
import type { Backlog } from './connections/unread-bytes.ts';

/**
 * One request and its response.
 *
 * It closes once: when the response is flushed to the client, or when the connection is gone. Node emits `close` only for the response
 * being sent, not for pipelined responses queued behind it; the connection closes those.
 */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  private readonly backlog: Backlog;
  readonly requestId: string;
  /** Ends when the client leaves, or at the deadline of its operation. */
  readonly lifetime: CancellationToken = createCancellationToken();
  /** Headers of every response to this request: names and values alternate. */
  readonly headers: string[];
  /** Undefined if responses are not compressed. */
  readonly compression: Compression | undefined;
  isClosed = false;
  private unsent = 0;
  private listeners: (() => void)[] = [];

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    backlog: Backlog,
    requestId: string,
    headers: string[],
    compression?: Compression,
  ) {
    this.request = request;
    this.response = response;
    this.backlog = backlog;
    this.requestId = requestId;
    this.headers = headers;
    this.compression = compression;
  }

  /** A response may be written: none was begun, and the client is still connected. */
  get isOpen(): boolean {
    return !this.isClosed && !this.response.headersSent;
  }

  /** Calls the listener once: at the close, or now if already closed. */
  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.listeners.push(listener);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.unsent > 0) this.setUnsent(0);
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  /** Sets how many bytes of the response the client has not read yet. */
  setUnsent(bytes: number): void {
    const change = bytes - this.unsent;
    this.unsent = bytes;
    if (change !== 0) this.backlog.change(change);
  }

  /** Sets how many bytes of the request's body are in memory, some of which have just arrived. They count as unsent ones do. */
  setReceived(bytes: number): void {
    this.setUnsent(0); // restarts the time after which the connection counts as idle
    this.setUnsent(bytes);
  }

  /** Sets the common headers, for code that writes the response itself. */
  setHeaders(): void {
    const { headers, response } = this;
    for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at]!, headers[at + 1]!);
  }
}
