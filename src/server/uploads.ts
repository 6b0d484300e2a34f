import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { processRequest } from 'graphql-upload-minimal';
import type { Config } from '../config.ts';
import { question } from './body.ts';
import type { Question } from './body.ts';
import { RequestRefusal } from './refusal.ts';

/** The envelope of a multipart request: boundaries, part headers, the map. The operations have a limit of their own. */
const ENVELOPE_BYTES = 20_000;

/**
 * Reads a multipart request as far as its map; the files go on arriving while the operation reads them.
 * Nothing is buffered whole, and what nobody reads is thrown away when the answer is out.
 */
export async function readUpload(
  request: IncomingMessage,
  response: ServerResponse,
  config: Config,
): Promise<Question> {
  const { maxBodyBytes, maxUploadBytes, maxPictures, requestBodyTimeoutMs } = config;
  const most = maxUploadBytes + maxBodyBytes + ENVELOPE_BYTES;
  const tooLarge = new RequestRefusal(
    413,
    'UPLOAD_TOO_LARGE',
    `The files of a request have at most ${maxUploadBytes} bytes together.`,
  );
  if (Number(request.headers['content-length']) > most) throw tooLarge;

  let size = 0;
  let cause: RequestRefusal | undefined;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      if (size <= most) return done(null, chunk);
      cause = tooLarge;
      done(tooLarge);
    },
  });
  // Who reads the parts hears of a cut by `close`; the error itself is told by the refusal.
  counted.on('error', () => undefined);
  const late = setTimeout(() => {
    cause = new RequestRefusal(
      408,
      'REQUEST_TIMEOUT',
      `The operations and the map arrive within ${requestBodyTimeoutMs} ms.`,
    );
    counted.destroy();
  }, requestBodyTimeoutMs);
  request.once('close', () => {
    if (!request.complete) counted.destroy();
  });
  response.once('close', () => drain(request, counted, requestBodyTimeoutMs));
  request.pipe(counted);

  try {
    // The library reads a body and its headers, nothing else of a request.
    const source = Object.assign(counted, { headers: request.headers }) as unknown as IncomingMessage;
    const asked = question(
      await processRequest(source, response, { maxFieldSize: maxBodyBytes, maxFiles: maxPictures }),
    );
    refuseSharedFiles(asked);
    return asked;
  } catch (error) {
    if (cause) throw cause;
    if (error instanceof RequestRefusal) throw error;
    const { status, message } = error as Error & { status?: number };
    throw status === 413
      ? new RequestRefusal(413, 'UPLOAD_TOO_LARGE', message)
      : new RequestRefusal(400, 'BAD_UPLOAD', `This is not a GraphQL multipart request. ${message}`);
  } finally {
    clearTimeout(late);
  }
}

/** A stream can be read once, so a file can be in one place. */
function refuseSharedFiles(asked: Question): void {
  const seen = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    // A list or a plain object is looked into; anything else is a file.
    if (Array.isArray(value)) return value.forEach(walk);
    if (Object.getPrototypeOf(value) === Object.prototype) return Object.values(value).forEach(walk);
    if (seen.has(value)) throw new RequestRefusal(400, 'BAD_UPLOAD', 'A file is mapped to one place, not to several.');
    seen.add(value);
  };
  walk(asked.variables);
}

/** Lets the client finish sending, or it would never read the answer; but not for ever. */
function drain(request: IncomingMessage, counted: Transform, withinMs: number): void {
  request.unpipe(counted);
  counted.destroy();
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), withinMs);
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.resume();
}
