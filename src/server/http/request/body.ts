/** Reads bodies as text, within their limits of size and time. Text that cannot be passed on unchanged is rejected. */
import { isUtf8 } from 'node:buffer';
import type { Config } from '../../../config/settings.ts';
import { afterPendingReads, atEndOfTurn } from '../../../lib/event-loop.ts';
import { isPercentEncodedUtf8 } from '../../../lib/text/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError } from '../response/http-error.ts';

/** A completed body, and the promise for its text. */
interface CompletedBody {
  chunks: Buffer[];
  resolve: (text: string) => void;
  reject: (reason: unknown) => void;
}

export type BodySettings = Pick<Config, 'maxBodyBytes' | 'requestBodyTimeoutMs'>;

export type BodyReader = ReturnType<typeof createBodyReader>;

/** Reads whole bodies within their limits of size and time. */
export function createBodyReader({ maxBodyBytes, requestBodyTimeoutMs }: BodySettings) {
  let reading = 0;
  const completed = atEndOfTurn<CompletedBody>((bodies) => {
    for (const { chunks, resolve, reject } of bodies) {
      try {
        resolve(decodeStrictUtf8(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      } catch (error) {
        reject(error);
      }
    }
  });
  const tooLarge = () => new HttpError('BODY_TOO_LARGE', `The body must have at most ${maxBodyBytes} bytes.`);
  const tooSlow = () => new HttpError('REQUEST_TIMEOUT', `The body must arrive within ${requestBodyTimeoutMs} ms.`);

  return {
    read,
    /** Bodies that are still arriving. */
    reading: () => reading,
  };

  function read(exchange: Exchange): Promise<string> {
    const { request } = exchange;
    const { 'content-encoding': encoding, 'content-length': length } = request.headers;
    if (encoding && encoding !== 'identity') {
      throw new HttpError('UNSUPPORTED_ENCODING', 'Send the body without Content-Encoding.');
    }
    if (Number(length) > maxBodyBytes) throw tooLarge();
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let isOver = false;
      const end = () => {
        clearTimeout(deadline);
        if (!isOver) reading--;
        isOver = true;
        if (chunks.length > 1) exchange.setReceived(0);
      };
      const fail = (error: HttpError) => {
        end();
        request.off('data', onData);
        request.off('end', onEnd);
        request.pause();
        reject(error);
      };
      const onData = (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBodyBytes) fail(tooLarge());
        else if (chunks.push(chunk) > 1) exchange.setReceived(size); // most bodies are one chunk
      };
      const onEnd = () => {
        end();
        completed.add({ chunks, resolve, reject });
      };
      reading++;
      const deadline = setTimeout(afterPendingReads, requestBodyTimeoutMs, () => {
        if (!isOver) fail(tooSlow());
      }).unref();
      request.on('data', onData);
      request.on('end', onEnd);
      request.on('error', () => fail(new HttpError('BAD_REQUEST', 'The body ended early.', { status: 400 })));
    });
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
