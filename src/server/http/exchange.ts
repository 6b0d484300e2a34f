import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CancellationToken, createCancellationToken } from '../../lib/cancellation.ts';
import type { Compression } from './response/compression.ts';
import type { UnreadBytes } from './connections/unread-bytes.ts';

/** One request and its response. It closes once: when the response is flushed to the client, or when the connection is gone. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  private readonly unread: UnreadBytes;
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
    unread: UnreadBytes,
    requestId: string,
    headers: string[],
    compression?: Compression,
  ) {
    this.request = request;
    this.response = response;
    this.unread = unread;
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
    this.unsent = bytes;
    this.unread.set(this.request.socket, bytes);
  }

  /** Sets how many bytes of the request's body are in memory, some of which have just arrived. They count as unsent ones do. */
  setReceived(bytes: number): void {
    this.setUnsent(0); // it is not the one that has been idle for the longest time
    this.setUnsent(bytes);
  }

  /** Sets the common headers, for code that writes the response itself. */
  setHeaders(): void {
    const { headers, response } = this;
    for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at]!, headers[at + 1]!);
  }
}
