/**
 * Writes response bodies, no faster than their clients take them. What a client has yet to take is counted, and does not hold up the
 * operation that made it: a client that does not read must not keep its slot.
 */
import type { Exchange } from './exchange.ts';

/** A long body is copied into the socket by pieces, the next when the client has taken the one before. */
const PIECE_BYTES = 65_536;

/** Sends the body and ends the response. Nothing is sent where the client has left. */
export function sendBody(exchange: Exchange, body?: Buffer | string): void {
  if (exchange.isClosed) return;
  if (body !== undefined && body.length > PIECE_BYTES) {
    const outbox = new Outbox(exchange);
    outbox.add(typeof body === 'string' ? Buffer.from(body) : body);
    return outbox.end();
  }
  exchange.response.end(body);
  // The socket most often takes all of a short body at once.
  exchange.setUnsent(exchange.response.writableLength);
}

/** Sends what the stream brings. Resolves when it has ended or the client has left; what is not yet taken then is sent all the same. */
export async function sendStream(exchange: Exchange, stream: ReadableStream<Uint8Array>): Promise<void> {
  const outbox = new Outbox(exchange);
  const reader = stream.getReader();
  const closed = new Promise<void>((resolve) => exchange.onClose(resolve));
  exchange.onClose(() => void reader.cancel().catch(() => undefined));
  for (;;) {
    const piece = await Promise.race([reader.read(), closed]);
    if (piece === undefined || exchange.isClosed) return;
    if (piece.done) return outbox.end();
    outbox.add(piece.value);
  }
}

/** The bytes of one response that wait to be written. */
class Outbox {
  private readonly exchange: Exchange;
  private readonly chunks: Uint8Array[] = [];
  /** Bytes of the chunks, less those of the first that were written. */
  private size = 0;
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
      const isBelowMark = response.write(this.next());
      // Node would hold it back until the end of this turn, and whether the client takes it is to be known now.
      response.socket?.uncork();
      // `drain` comes only after a write that returned false.
      if (isBelowMark || response.writableLength === 0) continue;
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
    const piece = first.subarray(this.written, this.written + PIECE_BYTES);
    this.written += piece.length;
    this.size -= piece.length;
    if (this.written === first.length) {
      this.chunks.shift();
      this.written = 0;
    }
    return piece;
  }
}
