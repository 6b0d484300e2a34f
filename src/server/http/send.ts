/**
 * Writes response bodies no faster than clients read them. Unread bytes are counted and buffered outside of the operation, so that a client
 * that does not read cannot keep a slot.
 */
import type { Exchange } from './exchange.ts';

/** Long bodies are written to the socket in chunks of this size, the next one when the client has read the one before. */
const CHUNK_BYTES = 65_536;

/** Sends the body and ends the response. Does nothing if the client has left. */
export function sendBody(exchange: Exchange, body?: Buffer | string): void {
  if (exchange.isClosed) return;
  if (body !== undefined && body.length > CHUNK_BYTES) {
    const outbox = new Outbox(exchange);
    outbox.add(typeof body === 'string' ? Buffer.from(body) : body);
    return outbox.end();
  }
  exchange.response.end(body);
  // Usually 0: the kernel accepts a short body at once.
  exchange.setUnsent(exchange.response.writableLength);
}

/** Sends the stream. Resolves when the stream has ended or the client has left; unread bytes are still sent after that. */
export async function sendStream(exchange: Exchange, stream: ReadableStream<Uint8Array>): Promise<void> {
  const outbox = new Outbox(exchange);
  const reader = stream.getReader();
  const closed = new Promise<void>((resolve) => exchange.onClose(resolve));
  exchange.onClose(() => void reader.cancel().catch(() => undefined));
  for (;;) {
    const next = await Promise.race([reader.read(), closed]);
    if (next === undefined || exchange.isClosed) return;
    if (next.done) return outbox.end();
    outbox.add(next.value);
  }
}

/** Bytes of one response that are not written yet. */
class Outbox {
  private readonly exchange: Exchange;
  private readonly chunks: Uint8Array[] = [];
  /** Bytes not written yet. */
  private size = 0;
  /** Bytes of the first chunk that are written. */
  private written = 0;
  private isEnded = false;
  private isBlocked = false;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.chunks.push(bytes);
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
    while (!exchange.isClosed && !this.isBlocked && this.size > 0) {
      const isBelowHighWaterMark = response.write(this.next());
      // Node corks writes until the end of the turn; uncork to learn now whether the socket accepts the chunk.
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

  private next(): Uint8Array {
    const first = this.chunks[0]!;
    const chunk = first.subarray(this.written, this.written + CHUNK_BYTES);
    this.written += chunk.length;
    this.size -= chunk.length;
    if (this.written === first.length) {
      this.chunks.shift();
      this.written = 0;
    }
    return chunk;
  }
}
