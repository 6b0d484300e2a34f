import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Lifetime, createLifetime } from '../upstream/lifetime.ts';
import type { Connection } from './connections.ts';

/**
 * One request and its response.
 *
 * It is closed once: when the response was flushed to the client, or when the connection is gone. Node emits `close` for the response
 * that is being sent, and not for responses that are queued behind it, so the connection closes those.
 */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly requestId: string;
  /** Ends when the client leaves, or at the deadline of its operation. */
  readonly lifetime: Lifetime = createLifetime();
  /** Headers of every response to this request: names and values in turn. */
  readonly headers: string[];
  isClosed = false;
  private unsent = 0;
  private listeners: (() => void)[] = [];

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    requestId: string,
    headers: string[],
  ) {
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.requestId = requestId;
    this.headers = headers;
  }

  /** A response may be written: none was begun, and there is somebody to read it. */
  get isOpen(): boolean {
    return !this.isClosed && !this.response.headersSent;
  }

  /** Calls it once: at the close, or now where it is closed already. */
  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.listeners.push(listener);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.setUnsent(0);
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  /** So many bytes of the response wait for the client now. */
  setUnsent(bytes: number): void {
    const change = bytes - this.unsent;
    this.unsent = bytes;
    if (change !== 0) this.connection.backlog.change(change);
  }

  /** Puts the headers on a response that is written by somebody else. */
  setHeaders(): void {
    const { headers, response } = this;
    for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at]!, headers[at + 1]!);
  }
}
