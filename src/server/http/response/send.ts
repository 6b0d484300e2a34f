/**
 * Writes response bodies no faster than clients read them. Unread bytes are counted and buffered outside of the operation, so that a client
 * that does not read cannot keep a slot.
 */
import { atEndOfTick } from '../../../lib/event-loop.ts';
import type { Compressed } from './compression.ts';
import { PARTIAL_SUCCESS } from './status.ts';
import type { Exchange } from '../exchange.ts';

/** Long bodies are written to the socket in chunks of this size, the next one when the client has read the one before. */
const CHUNK_BYTES = 65_536;

/**
 * Sends a whole response, compressed if the client accepts it; its length and encoding are added to the headers, in which names and values
 * alternate. Does nothing if the client has disconnected. The compressed copies of a body that `isKept` are kept with it.
 */
export function sendBody(
  exchange: Exchange,
  status: number,
  headers: string[],
  body: Buffer | string,
  isKept = false,
): void {
  if (!exchange.isOpen) return;
  const compressed = exchange.compression?.compress(body, exchange.request.headers['accept-encoding'], isKept);
  if (!(compressed instanceof Promise)) return write(exchange, status, headers, body, compressed);
  exchange.setUnsent(body.length); // it stays in memory meanwhile, as what a client does not read
  void compressed.then((result) => {
    if (exchange.isOpen) write(exchange, status, headers, body, result);
  });
}

/** Sends a 304: the copy of the client is current. */
export function sendNotModified(exchange: Exchange): void {
  exchange.setHeaders();
  exchange.response.removeHeader('content-type');
  exchange.response.writeHead(304).end();
}

/** Sends a response that is compressed already. */
export function sendCompressed(exchange: Exchange, status: number, headers: string[], body: Compressed): void {
  if (exchange.isOpen) write(exchange, status, headers, body.bytes, body);
}

function write(
  exchange: Exchange,
  status: number,
  headers: string[],
  whole: Buffer | string,
  compressed: Compressed | undefined,
): void {
  const { request, response } = exchange;
  const body = compressed?.bytes ?? whole;
  if (compressed) headers.push('content-encoding', compressed.encoding);
  headers.push('content-length', String(Buffer.byteLength(body)));
  if (status === PARTIAL_SUCCESS) response.statusMessage = 'Partial Success'; // Node does not know it
  response.writeHead(status, headers);
  if (body.length > CHUNK_BYTES && request.method !== 'HEAD') {
    const outbox = new Outbox(exchange);
    outbox.add(typeof body === 'string' ? Buffer.from(body) : body);
    return outbox.end();
  }
  response.write(body); // Node sends no body to a HEAD
  response.socket?.uncork(); // `end(body)` would add an empty chunk, and Node copies two into memory of their own
  response.end();
  // The kernel usually accepts a short body at once.
  if (response.writableLength > 0) exchange.setUnsent(response.writableLength);
}

/**
 * Sends the parts of the stream as they are produced. Resolves when the stream has ended or the client has left; unread bytes are still
 * sent after that.
 */
export async function sendStream(exchange: Exchange, stream: ReadableStream<Uint8Array>): Promise<void> {
  const parts = partsOf(exchange);
  const reader = stream.getReader();
  const closed = new Promise<void>((resolve) => exchange.onClose(resolve));
  exchange.onClose(() => void reader.cancel().catch(() => undefined));
  for (;;) {
    const next = await Promise.race([reader.read(), closed]);
    if (next === undefined || exchange.isClosed) return;
    if (next.done) return parts.end();
    const drained = parts.add(next.value);
    if (drained) await Promise.race([drained, closed]);
  }
}

/** The outbox, or a compressor in front of it if the client accepts an encoding. Parts of one tick of the event loop are flushed together. */
function partsOf(exchange: Exchange): Parts {
  const outbox = new Outbox(exchange);
  const { compression, request, response } = exchange;
  const opened = compression?.open(request.headers['accept-encoding']);
  if (!opened) return outbox;
  const { encoding, stream } = opened;
  response.setHeader('content-encoding', encoding);
  exchange.onClose(() => stream.destroy());
  stream.on('data', (bytes: Uint8Array) => outbox.add(bytes));
  stream.on('end', () => outbox.end());
  stream.on('error', () => response.destroy());
  const added = atEndOfTick<Uint8Array>((chunks) => stream.write(Buffer.concat(chunks)));
  return {
    add(bytes) {
      added.add(bytes);
      return stream.writableNeedDrain ? new Promise((resolve) => stream.once('drain', resolve)) : undefined;
    },
    end: () => void setImmediate(() => stream.end()), // after what was added before
  };
}

interface Parts {
  /** The promise, if there is one, resolves when the next part may be added. */
  add: (bytes: Uint8Array) => Promise<void> | undefined;
  end: () => void;
}

/** Bytes of one response that are not written yet. */
class Outbox implements Parts {
  private readonly exchange: Exchange;
  private readonly chunks: Uint8Array[] = [];
  /** Bytes not written yet. */
  private size = 0;
  private isEnded = false;
  private isBlocked = false;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  add(bytes: Uint8Array): undefined {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) this.chunks.push(bytes.subarray(at, at + CHUNK_BYTES));
    this.size += bytes.length;
    this.flush();
  }

  end(): void {
    this.isEnded = true;
    this.flush();
  }

  private flush(): void {
    const { exchange } = this;
    const { response } = exchange;
    while (!exchange.isClosed && !this.isBlocked && this.chunks.length > 0) {
      const chunk = this.chunks.shift()!;
      this.size -= chunk.length;
      const isBelowHighWaterMark = response.write(chunk);
      // Node corks writes until the end of the tick; uncork to learn now whether the socket accepts the chunk.
      response.socket?.uncork();
      // `drain` is emitted only after a write that returned false.
      if (isBelowHighWaterMark || response.writableLength === 0) continue;
      this.isBlocked = true;
      response.once('drain', () => {
        this.isBlocked = false;
        this.flush();
      });
    }
    if (exchange.isClosed) return;
    if (this.isEnded && this.size === 0 && !response.writableEnded) response.end();
    exchange.setUnsent(this.size + response.writableLength);
  }
}
