import type { IncomingMessage } from 'node:http';
import { type Readable, Transform, type Writable } from 'node:stream';
import { GraphQLError } from 'graphql';
import { processRequest } from 'graphql-upload-minimal';
import type { Config } from '../../config/settings.ts';
import { wereDecodedWithLoss } from '../../lib/unicode.ts';
import type { ClientCode } from '../../graph/errors/codes.ts';
import { checkParams } from './request-body.ts';
import type { GraphqlParams } from './request-body.ts';
import type { Exchange } from './exchange.ts';
import { HttpError, discardBody } from './http-error.ts';
import { invalidText, checkSurrogates } from './strict-text.ts';

/** The envelope of a multipart request: boundaries, part headers, the map. The operations have a limit of their own. */
const ENVELOPE_BYTES = 20_000;
const MAP_BYTES = 10_000;
/** What must come in each turn of the clock: a drip would hold a connection of the service for hours. */
const PACE_BYTES = 256_000;

export interface Upload {
  params: GraphqlParams;
  /** When the last byte of the request has come, or none will come any more. */
  arrival: Promise<void>;
}

/**
 * Reads a multipart request as far as its map; the files go on arriving while the operation reads them.
 * Nothing is buffered whole, and what nobody reads is thrown away when the answer is out.
 */
export async function readUpload(exchange: Exchange, config: Config): Promise<Upload> {
  const { request, response } = exchange;
  const { maxBodyBytes, maxUploadBytes, maxPictures, maxMutations, requestBodyTimeoutMs } = config;
  const most = maxUploadBytes + maxBodyBytes + ENVELOPE_BYTES;
  const tooLarge = `The files of a request have at most ${maxUploadBytes} bytes together.`;
  if (Number(request.headers['content-length']) > most) throw new HttpError(413, 'UPLOAD_TOO_LARGE', tooLarge);

  let size = 0;
  /** The raw bytes up to the map, to check that the operations are UTF-8. */
  let head: Buffer[] = [];
  let paced = 0;
  let isMapped = false;
  let parser: Writable | undefined;
  let last: HeldFile | undefined;
  let refusal: HttpError | undefined;
  /** Ends the request here. Before the map is read that is its answer; after it, whoever reads a file is told. */
  const refuse = (status: number, code: ClientCode, message: string) => {
    refusal ??= new HttpError(status, code, message);
    const told = new GraphQLError(message, { extensions: { code } });
    last?.cut(told);
    parser?.destroy(told);
    counted.destroy();
  };
  const refuseBrokenText = (operations: string) => {
    try {
      if (wereDecodedWithLoss([operations], () => Buffer.concat(head), request.headers['content-type'] ?? ''))
        throw invalidText('The operations are not UTF-8.');
      checkSurrogates(operations);
    } catch (error) {
      const { status, code, message } = error as HttpError;
      refuse(status, code, message);
    }
  };
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      if (!isMapped && size < maxBodyBytes + ENVELOPE_BYTES) head.push(chunk);
      size += chunk.length;
      if (isMapped && size >= paced + PACE_BYTES) {
        paced = size;
        clock.refresh();
      }
      if (size > most) refuse(413, 'UPLOAD_TOO_LARGE', tooLarge);
      done(null, chunk);
    },
  });
  counted.on('error', () => undefined);
  // First for the operations and the map together, then for each stretch of the files.
  const clock = setTimeout(
    () =>
      refuse(
        408,
        'REQUEST_TIMEOUT',
        `The request came too slowly: no ${PACE_BYTES} bytes in ${requestBodyTimeoutMs} ms.`,
      ),
    requestBodyTimeoutMs,
  );
  const arrival = new Promise<void>((resolve) => {
    counted.once('close', () => {
      clearTimeout(clock);
      resolve();
    });
  });
  request.once('close', () => {
    if (!request.complete) refuse(400, 'BAD_UPLOAD', 'The request broke off.');
  });
  exchange.onClose(() => {
    request.unpipe(counted);
    counted.destroy();
    if (request.complete || request.destroyed) return;
    discardBody(request, requestBodyTimeoutMs, () => {
      if (!request.complete) request.destroy();
    });
  });

  // The library keeps its parser to itself, but has to hand it to `pipe`: what the library lets pass is refused there.
  const pipe = counted.pipe.bind(counted);
  counted.pipe = (to) => {
    parser = to as unknown as Writable;
    // A malformed part header emits two errors, and the library listens for one only.
    parser.on('error', () => undefined);
    const expected = new Set<string>();
    parser.on('field', (name: string, value: string) => {
      if (name === 'map' && !refusal) readMap(value, expected, refuse);
      if (name === 'operations' && !refusal) refuseBrokenText(value);
    });
    parser.on('file', (name: string, stream: Readable) => {
      stream.on('error', () => undefined); // the reader of the file gets the error
      if (!expected.delete(name)) return refuse(400, 'BAD_UPLOAD', 'Each file is named in the map, and sent once.');
      last?.end();
      last = heldOpen(stream);
    });
    const final = parser._final.bind(parser);
    parser._final = (done) => {
      last?.end();
      final(done);
    };
    return pipe(to);
  };
  request.pipe(counted);

  try {
    // The library reads a body and its headers, nothing else of a request.
    const source = Object.assign(counted, { headers: request.headers }) as unknown as IncomingMessage;
    const limits = { maxFieldSize: maxBodyBytes, maxFiles: maxPictures * maxMutations };
    const asked = await processRequest(source, response, limits);
    if (refusal) throw refusal as Error;
    isMapped = true;
    head = [];
    paced = size;
    clock.refresh();
    return { params: checkParams(asked), arrival };
  } catch (error) {
    if (refusal) throw refusal as Error;
    if (error instanceof HttpError) throw error;
    const { status, message } = error as Error & { status?: number };
    throw status === 413
      ? new HttpError(413, 'UPLOAD_TOO_LARGE', message)
      : new HttpError(400, 'BAD_UPLOAD', `This is not a GraphQL multipart request. ${message}`);
  }
}

interface HeldFile {
  end: () => void;
  cut: (error: Error) => void;
}

/**
 * A file that does not end before what follows it is known to be in order: whoever passes it on would have passed on the whole of a
 * request that is refused.
 */
function heldOpen(stream: Readable): HeldFile {
  const push = stream.push.bind(stream);
  let isOver = false;
  let isHeld = true;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk !== null || !isHeld) return push(chunk, encoding);
    isOver = true;
    return true;
  };
  return {
    end: () => {
      isHeld = false;
      if (isOver) push(null);
    },
    cut: (error) => {
      if (isHeld) stream.destroy(error);
    },
  };
}

type Refuse = (status: number, code: ClientCode, message: string) => void;

/** What the map names, once the library has found that it is one. A stream can be read once, so a file can be in one place. */
function readMap(text: string, expected: Set<string>, refuse: Refuse): void {
  if (Buffer.byteLength(text) > MAP_BYTES) {
    return refuse(413, 'UPLOAD_TOO_LARGE', `The map has at most ${MAP_BYTES} bytes.`);
  }
  let map: unknown;
  try {
    map = JSON.parse(text);
  } catch {
    return; // the library has said so
  }
  if (typeof map !== 'object' || map === null) return; // of this too
  const places = Object.values(map).flat();
  const isOnce = Object.values(map).every((paths) => Array.isArray(paths) && paths.length === 1);
  if (!isOnce || new Set(places).size < places.length) {
    return refuse(400, 'BAD_UPLOAD', 'A file is mapped to one place, and a place to one file.');
  }
  for (const name of Object.keys(map)) expected.add(name);
}
