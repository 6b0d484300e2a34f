/** Reads multipart requests with graphql-upload-minimal, within limits of size and pace. Files are streamed, never buffered whole. */
import type { ReadStream } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough, type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import { GraphQLError } from 'graphql';
import { type FileUpload, Upload as FileVariable, processRequest } from 'graphql-upload-minimal';
import type { Config } from '../../../config/settings.ts';
import { wereDecodedWithLoss } from '../../../lib/text/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError, discardBody } from '../response/http-error.ts';
import { shareFile } from './shared-file.ts';
import { checkSurrogates, invalidText } from './body.ts';

export interface Upload {
  /** The form field of this name: one request or a list, with the files in their places. */
  operations: object;
  /** Resolves when the last byte of the request has arrived, or when no more will. */
  end: Promise<void>;
}

/** Reads a multipart request up to its map. The files arrive while the operation reads them; files that nobody reads are discarded. */
export async function readUpload(exchange: Exchange, config: Config): Promise<Upload> {
  const { request, response } = exchange;
  const { maxBodyBytes, maxPictures, maxMutations, requestBodyTimeoutMs } = config;
  const body = new UploadBody(exchange, config);
  exchange.onClose(() => {
    request.unpipe(body);
    body.destroy();
    if (request.complete || request.destroyed) return;
    discardBody(request, requestBodyTimeoutMs, () => {
      if (!request.complete) request.destroy();
    });
  });
  request.pipe(body);

  try {
    const limits = { maxFieldSize: maxBodyBytes, maxFiles: maxPictures * maxMutations };
    // Of the request the library uses the headers and the stream.
    const operations = await processRequest(body as unknown as IncomingMessage, response, limits);
    if (body.error) throw body.error as Error;
    body.expectFiles();
    replaceFiles(operations, (file, places) => body.opened(file, places));
    return { operations, end: body.arrived };
  } catch (error) {
    throw body.error ?? formError(error as Error);
  }
}

function formError({ status, message }: Error & { status?: number }): HttpError {
  return status === 413
    ? new HttpError(413, 'UPLOAD_TOO_LARGE', message)
    : new HttpError(400, 'BAD_UPLOAD', `This is not a GraphQL multipart request. ${message}`);
}

/** Replaces each file in the operations by one that is made from it and the number of its places. */
function replaceFiles(operations: object, replace: (file: FileUpload, places: number) => FileUpload): void {
  const places = new Map<FileVariable, number>();
  const waiting: object[] = [operations]; // an explicit stack, because JSON can nest deeper than the call stack
  for (let each = waiting.pop(); each; each = waiting.pop()) {
    if (each instanceof FileVariable) {
      places.set(each, (places.get(each) ?? 0) + 1);
      continue;
    }
    for (const value of Object.values(each) as unknown[])
      if (typeof value === 'object' && value !== null) waiting.push(value);
  }
  for (const [variable, count] of places) {
    const promise = variable.promise.then((file) => replace(file, count));
    promise.catch(() => undefined); // the resolver that uses the file gets the error
    Object.assign(variable, { promise, toJSON: () => 'a file' }); // as messages show it
  }
}

/** The envelope of a multipart request: boundaries, headers of parts, the map. The operations have a limit of their own. */
const ENVELOPE_BYTES = 20_000;
const MAP_BYTES = 10_000;
/** So many bytes must arrive in each interval: a slow client would hold a connection of the upstream for hours. */
const PACE_BYTES = 256_000;

/**
 * The body of a multipart request on its way to the parser of graphql-upload-minimal. It enforces the limits, and checks what the library
 * lets pass.
 *
 * The library creates its parser itself and passes it to `pipe` of the request. It listens first, so its listeners have run when those of
 * this class are called. `test/server/http/request/uploads.test.ts` fails if a version of the library does this in another way.
 */
class UploadBody extends Transform {
  readonly headers: IncomingHttpHeaders;
  /** Resolves when no more bytes will arrive. */
  readonly arrived: Promise<void>;
  /** Why the request was rejected. */
  error: HttpError | undefined;

  private readonly exchange: Exchange;
  private readonly settings: Config;
  private readonly maxBytes: number;
  private readonly timer: NodeJS.Timeout;
  private readonly held = new WeakMap<object, HeldFile>();
  /** The names of the files that the map announces and that have not arrived. */
  private readonly expected = new Set<string>();
  /** The bytes before the map, to check that the operations are UTF-8. */
  private head: Buffer[] = [];
  private size = 0;
  /** Bytes of files with several readers, which are in memory. */
  private kept = 0;
  private sizeAtInterval = 0;
  private isMapped = false;
  private parser: Writable | undefined;
  private last: HeldFile | undefined;

  /** Throws an HttpError if the request announces more bytes than allowed. */
  constructor(exchange: Exchange, settings: Config) {
    super();
    const { request } = exchange;
    this.exchange = exchange;
    const { maxBodyBytes, maxUploadBytes, requestBodyTimeoutMs } = settings;
    this.headers = request.headers;
    this.settings = settings;
    this.maxBytes = maxUploadBytes + maxBodyBytes + ENVELOPE_BYTES;
    if (Number(request.headers['content-length']) > this.maxBytes) throw tooLarge(settings);
    const message = `The upload is too slow: fewer than ${PACE_BYTES} bytes in ${requestBodyTimeoutMs} ms.`;
    // First for the operations and the map together, then for each interval of the files.
    this.timer = setTimeout(() => this.reject(new HttpError(408, 'REQUEST_TIMEOUT', message)), requestBodyTimeoutMs);
    this.arrived = new Promise<void>((resolve) => {
      this.once('close', () => {
        clearTimeout(this.timer);
        resolve();
      });
    });
    this.on('error', ignore);
    request.once('close', () => {
      if (!request.complete) this.reject(badUpload('The request ended early.'));
    });
  }

  /** The map was read: from now on bytes must arrive at a minimal pace. */
  expectFiles(): void {
    this.isMapped = true;
    this.head = [];
    this.exchange.setReceived(0);
    this.startInterval();
  }

  /** The file as resolvers open it; its stream ends only when what follows the file is valid. */
  opened(file: FileUpload, places: number): FileUpload {
    const open = (): Readable => {
      const stream = file.createReadStream();
      return this.held.get(stream)?.open() ?? stream;
    };
    const opening = places > 1 ? shareFile(open, (bytes) => this.addKept(bytes)) : open;
    return { ...file, createReadStream: () => opening() as ReadStream };
  }

  private addKept(bytes: number): void {
    this.kept += bytes;
    this.exchange.setReceived(this.kept);
  }

  override pipe<T extends NodeJS.WritableStream>(parser: T): T {
    this.parser = parser as unknown as Writable;
    // Each malformed part emits an error, and the library listens for the first only.
    this.parser.on('error', (error) => this.last?.fail(error));
    this.parser.on('field', (name: string, value: string) => {
      if (this.error) return;
      if (name === 'map') this.readMap(value);
      if (name === 'operations') this.checkOperations(value);
    });
    this.parser.on('file', (name: string, stream: Readable) => this.addFile(name, stream));
    this.parser.on('finish', () => this.last?.release());
    return super.pipe(parser);
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (!this.isMapped && this.size < this.settings.maxBodyBytes + ENVELOPE_BYTES) this.head.push(chunk);
    this.size += chunk.length;
    if (!this.isMapped) this.exchange.setReceived(this.size);
    if (this.isMapped && this.size >= this.sizeAtInterval + PACE_BYTES) this.startInterval();
    if (this.size > this.maxBytes) this.reject(tooLarge(this.settings));
    done(null, chunk);
  }

  private startInterval(): void {
    this.sizeAtInterval = this.size;
    this.timer.refresh();
  }

  /** Ends the request. Before the map is read the error is the response; after it, the readers of files receive it. */
  private reject(error: HttpError): void {
    this.error ??= error;
    const fileError = new GraphQLError(error.message, { extensions: { code: error.code } });
    this.last?.fail(fileError);
    this.parser?.destroy(fileError);
    this.destroy();
  }

  private checkOperations(operations: string): void {
    try {
      const head = () => Buffer.concat(this.head);
      if (wereDecodedWithLoss([operations], head, this.headers['content-type'] ?? ''))
        throw invalidText('The operations are not UTF-8.');
      checkSurrogates(operations);
    } catch (error) {
      this.reject(error as HttpError);
    }
  }

  /** Reads the names of the files. A file may be in several places, a place has one file. */
  private readMap(text: string): void {
    if (Buffer.byteLength(text) > MAP_BYTES) {
      return this.reject(new HttpError(413, 'UPLOAD_TOO_LARGE', `The map must have at most ${MAP_BYTES} bytes.`));
    }
    let map: unknown;
    try {
      map = JSON.parse(text);
    } catch {
      return; // the library rejects it
    }
    if (typeof map !== 'object' || map === null) return; // the library rejects this too
    const places = Object.values(map).flat();
    const isPlaced = Object.values(map).every((paths) => Array.isArray(paths) && paths.length > 0);
    if (!isPlaced || new Set(places).size < places.length) {
      return this.reject(badUpload('Map each file to a place or several, and each place to one file.'));
    }
    for (const name of Object.keys(map)) this.expected.add(name);
  }

  private addFile(name: string, stream: Readable): void {
    stream.on('error', ignore); // the reader of the file gets the error
    if (!this.expected.delete(name)) return this.reject(badUpload('Each file must be in the map, and sent once.'));
    this.last?.release();
    this.last = new HeldFile(stream);
    this.held.set(stream, this.last);
  }
}

/**
 * Holds back the end of a file until the next part is validated. Otherwise a file could be forwarded completely although the request is
 * then rejected.
 */
class HeldFile extends PassThrough {
  private readonly source: Readable;
  private isReleased = false;
  private finish: (() => void) | undefined;

  constructor(source: Readable) {
    super();
    this.source = source;
    this.on('error', ignore);
  }

  open(): Readable {
    const { source } = this;
    source.once('error', (error) => this.destroy(error));
    source.once('close', () => {
      if (!source.readableEnded) this.destroy(source.errored ?? new Error('The file ended early.'));
    });
    this.once('close', () => {
      // A reader that stops early must not stop the parser.
      source.unpipe(this);
      source.resume();
    });
    return source.pipe(this);
  }

  release(): void {
    this.isReleased = true;
    this.finish?.();
  }

  /** Does nothing if the file is complete and the part that followed it was valid. */
  fail(error: Error): void {
    if (this.isReleased) return;
    this.destroy(error);
    this.source.destroy(error);
  }

  override _flush(done: TransformCallback): void {
    if (this.isReleased) done();
    else this.finish = done;
  }
}

const tooLarge = ({ maxUploadBytes }: Config): HttpError =>
  new HttpError(413, 'UPLOAD_TOO_LARGE', `The files of a request must have at most ${maxUploadBytes} bytes together.`);

const badUpload = (message: string): HttpError => new HttpError(400, 'BAD_UPLOAD', message);

/** For errors that are handled at `close`: without a listener they would end the process. */
const ignore = (): void => undefined;
