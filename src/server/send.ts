/** Writes response bodies, no faster than their clients take them. */
import type { Exchange } from './exchange.ts';

/** The client is given one piece of a long body after another: what it does not take is not copied into its socket. */
const PIECE_BYTES = 65_536;

/** Sends the body and ends the response. Nothing is sent where the client has left. */
export function sendBody(exchange: Exchange, body?: Buffer | string): void {
  const { response } = exchange;
  if (exchange.isClosed) return;
  if (body === undefined || body.length <= PIECE_BYTES) return void response.end(body);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  let at = 0;
  const next = () => {
    if (exchange.isClosed) return;
    const piece = bytes.subarray(at, (at += PIECE_BYTES));
    if (at < bytes.length) response.write(piece, next);
    else response.end(piece);
  };
  next();
}

/**
 * Sends what the stream brings until it ends or the client leaves. A piece is asked for when the client has taken the one before.
 * The wait ends at the close of the exchange too: a response whose connection is gone calls nobody back.
 */
export async function sendStream(exchange: Exchange, stream: ReadableStream<Uint8Array>): Promise<void> {
  const { response } = exchange;
  const reader = stream.getReader();
  const closed = new Promise<void>((resolve) => exchange.onClose(resolve));
  exchange.onClose(() => void reader.cancel().catch(() => undefined));
  for (;;) {
    const piece = await Promise.race([reader.read(), closed]);
    if (piece === undefined || exchange.isClosed) return;
    if (piece.done) return void response.end();
    const { value } = piece;
    await Promise.race([new Promise<void>((resolve) => response.write(value, () => resolve())), closed]);
  }
}
