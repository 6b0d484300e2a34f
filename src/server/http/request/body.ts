/** Reads bodies as text, within their limits of size and time. Text that cannot be passed on unchanged is rejected. */
import { isUtf8 } from 'node:buffer';
import type { Config } from '../../../config/settings.ts';
import { addListener, removeListener } from '../../../lib/cancellation.ts';
import { afterPendingReads, atEndOfTick } from '../../../lib/event-loop.ts';
import { isPercentEncodedUtf8 } from '../../../lib/text/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError, overloaded } from '../response/http-error.ts';

/** The bytes of a completed body, and the promise for its text. */
interface CompletedBody {
  bytes: Buffer;
  resolve: (text: string) => void;
  reject: (reason: unknown) => void;
}

/** So many bytes of a body must arrive in each interval, because its memory is held meanwhile. */
const PACE_BYTES = 256_000;

export type BodySettings = Pick<Config, 'maxBodyBytes' | 'requestBodyTimeoutMs'>;

export type BodyReader = ReturnType<typeof createBodyReader>;

/** Reads whole bodies within their limits of size and pace. */
export function createBodyReader({ maxBodyBytes, requestBodyTimeoutMs }: BodySettings) {
  let reading = 0;
  const completed = atEndOfTick(decodeAll);
  const tooLarge = () => new HttpError('BODY_TOO_LARGE', `The body must have at most ${maxBodyBytes} bytes.`);

  /** `onBytes` gets how many bytes are held of a body that comes in pieces. */
  function receive(
    exchange: Exchange,
    maxBytes: number,
    tooLarge: () => HttpError,
    onBytes: (size: number) => void = () => undefined,
  ): Promise<Buffer> {
    const { request, lifetime } = exchange;
    const { 'content-length': length } = request.headers;
    if (Number(length ?? 0) > maxBytes) throw tooLarge();
    return new Promise((resolve, reject) => {
      const body = new BodyBytes(length === undefined ? undefined : Number(length));
      let sizeAtInterval = 0;
      let isInPieces = false; // most bodies are one chunk
      let isOver = false;
      reading++;
      const end = () => {
        if (!isOver) reading--; // an error may follow the end
        isOver = true;
        clearTimeout(deadline);
        removeListener(lifetime, listener);
        if (isInPieces) onBytes(0);
      };
      const fail = (error: HttpError) => {
        end();
        request.off('data', onData);
        request.off('end', onEnd);
        request.pause();
        reject(error);
      };
      const onData = (chunk: Buffer) => {
        if (body.size + chunk.length > maxBytes) return fail(tooLarge());
        isInPieces = body.size > 0;
        if (isInPieces) onBytes(body.size + chunk.length);
        body.add(chunk);
        if (body.size < sizeAtInterval + PACE_BYTES) return;
        sizeAtInterval = body.size;
        deadline.refresh();
      };
      const onEnd = () => {
        end();
        resolve(body.bytes.subarray(0, body.size));
      };
      const listener = { onCancel: ({ message }: Error) => fail(overloaded(message)) };
      const tooSlow = `Each ${PACE_BYTES} bytes of a body must arrive within ${requestBodyTimeoutMs} ms.`;
      const deadline = setTimeout(afterPendingReads, requestBodyTimeoutMs, () => {
        if (!isOver) fail(new HttpError('REQUEST_TIMEOUT', tooSlow));
      }).unref();
      request.on('data', onData);
      request.on('end', onEnd);
      request.on('error', () => fail(new HttpError('BAD_REQUEST', 'The body ended early.', { status: 400 })));
      addListener(lifetime, listener);
    });
  }

  return {
    /** Its text. What has arrived counts as unread bytes do. */
    async read(exchange: Exchange): Promise<string> {
      const { 'content-encoding': encoding } = exchange.request.headers;
      if (encoding && encoding !== 'identity') {
        throw new HttpError('UNSUPPORTED_ENCODING', 'Send the body without Content-Encoding.');
      }
      const bytes = await receive(exchange, maxBodyBytes, tooLarge, (size) => exchange.setReceived(size));
      return new Promise((resolve, reject) => completed.add({ bytes, resolve, reject }));
    },
    receive,
    /** Bodies that are still arriving. */
    reading: () => reading,
  };
}

function decodeAll(bodies: readonly CompletedBody[]): void {
  for (const { bytes, resolve, reject } of bodies) {
    try {
      resolve(decodeStrictUtf8(bytes));
    } catch (error) {
      reject(error);
    }
  }
}

const NOTHING = Buffer.alloc(0);

/** The bytes of a body in one buffer, because a client may send single bytes, and each chunk would hold a buffer of its own. */
class BodyBytes {
  size = 0;
  /** May be longer than what has arrived. */
  bytes: Buffer = NOTHING;
  private readonly length: number | undefined;

  /** `length`: as the request says it. */
  constructor(length: number | undefined) {
    this.length = length;
  }

  add(chunk: Buffer): void {
    const { bytes, length, size } = this;
    this.size += chunk.length;
    if (chunk.length === length) this.bytes = chunk;
    else if (this.size <= bytes.length) chunk.copy(bytes, size);
    else {
      this.bytes = Buffer.allocUnsafeSlow(length ?? Math.max(this.size, 2 * bytes.length));
      bytes.copy(this.bytes, 0, 0, size);
      chunk.copy(this.bytes, size);
    }
  }
}

/** Throws an HttpError for text that is no JSON, or has a lone surrogate. */
export function parsedJson(text: string, what: string, status = 400): unknown {
  checkSurrogates(text);
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    throw new HttpError('BAD_REQUEST', `${what} must be JSON.`, { status });
  }
}

/**
 * Decodes UTF-8. This and the functions below reject text that cannot be passed on unchanged: decoders replace invalid UTF-8, and encoders
 * lone surrogates, by U+FFFD; a mutation would store the replacement without an error.
 */
function decodeStrictUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidText('The body is not UTF-8.');
  return withoutByteOrderMark(bytes.toString());
}

/** PowerShell and .NET write one. RFC 8259 lets readers ignore it. */
const withoutByteOrderMark = (text: string): string => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);

/** Rejects a query string or form whose percent-encoded bytes are not UTF-8. */
export function checkPercentEncoding(text: string): void {
  if (!isPercentEncodedUtf8(text)) throw invalidText('The percent-encoded bytes are not UTF-8.');
}

/** Rejects JSON with a lone surrogate. It has been decoded from UTF-8, so only an escape can contain one. */
export function checkSurrogates(json: string): void {
  if (!/\\ud[89a-f]/i.test(json)) return;
  for (const [, half] of json.matchAll(escapes)) if (half) throw invalidText('A text has a lone surrogate.');
}

/** An escaped surrogate pair, a lone surrogate (captured), or any other escape. */
const escapes = /\\u[dD][89abAB][\dA-Fa-f]{2}\\u[dD][c-fC-F][\dA-Fa-f]{2}|(\\u[dD][89a-fA-F][\dA-Fa-f]{2})|\\./gs;

export const invalidText = (message: string): HttpError => new HttpError('INVALID_TEXT', message, { status: 400 });
