/**
 * Reads multipart requests with graphql-upload-minimal, within limits of size and pace. Files are streamed; one is in memory only if it came
 * before another that is needed first, or has several readers, and within the bounds of `upload-memory.ts`.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import { GraphQLError } from 'graphql';
import { type Upload as FileVariable, processRequest } from 'graphql-upload-minimal';
import type { Config } from '../../../config/settings.ts';
import { wereDecodedWithLoss } from '../../../lib/text/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError, discardBody } from '../response/http-error.ts';
import { type BodySettings, checkSurrogates, invalidText } from './body.ts';
import { named } from './file-error.ts';
import { FileRequest } from './file-request.ts';
import { markFiles } from './file-parts.ts';
import { HeldFile, type MemoryBound, ignore } from './held-file.ts';
import type { UploadMemory } from './upload-memory.ts';

export interface Upload {
  /** The form field of this name: one request or a list, with the files in their places. */
  operations: object;
  /** Resolves when the last byte of the request has arrived, or when no more will. */
  end: Promise<void>;
}

/** What uploads of a server share, and who sent this one. */
export interface UploadScope {
  config: BodySettings & Pick<Config, 'maxUploadBytes' | 'maxPictures' | 'maxMutations'>;
  memory: UploadMemory;
  caller: string;
}

/** Reads a multipart request up to its map. The files arrive while the operation reads them; files that nobody reads are discarded. */
export async function readUpload(exchange: Exchange, scope: UploadScope): Promise<Upload> {
  const { request, response } = exchange;
  const { maxBodyBytes, maxPictures, maxMutations, requestBodyTimeoutMs } = scope.config;
  const body = new UploadBody(exchange, scope);
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
    // The library uses only the headers and the stream of the request.
    const operations = await processRequest(body as unknown as IncomingMessage, response, limits);
    if (body.error) throw body.error as Error;
    body.expectFiles(operations);
    return { operations, end: body.arrived };
  } catch (error) {
    throw body.error ?? formError(error as Error);
  }
}

function formError({ status, message }: Error & { status?: number }): HttpError {
  return status === 413
    ? new HttpError('UPLOAD_TOO_LARGE', message)
    : new HttpError('BAD_UPLOAD', `This is not a GraphQL multipart request: ${message}`);
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
  private readonly scope: UploadScope;
  private readonly maxBytes: number;
  private readonly timer: NodeJS.Timeout;
  private readonly markFiles: (chunk: Buffer) => Buffer[];
  /** The places of each file by its name, as the map has them. */
  private places = new Map<string, string[]>();
  /** By name, once the map is read. */
  private readonly requests = new Map<string, FileRequest>();
  /** The files that have begun to arrive, by name. */
  private readonly files = new Map<string, HeldFile>();
  /** The bytes before the map, to check that the operations are UTF-8. */
  private head: Buffer[] = [];
  private size = 0;
  /** Bytes of files that are in memory. */
  private inMemory = 0;
  private sizeAtInterval = 0;
  private isMapped = false;
  private parser: Writable | undefined;
  private last: HeldFile | undefined;

  /** Throws an HttpError if the request announces more bytes than allowed. */
  constructor(exchange: Exchange, scope: UploadScope) {
    super();
    const { request } = exchange;
    this.exchange = exchange;
    this.scope = scope;
    this.markFiles = markFiles(request.headers['content-type']);
    const { maxBodyBytes, maxUploadBytes, requestBodyTimeoutMs } = scope.config;
    this.headers = request.headers;
    this.maxBytes = maxUploadBytes + maxBodyBytes + ENVELOPE_BYTES;
    if (Number(request.headers['content-length']) > this.maxBytes) throw tooLarge(scope.config);
    const message = `The upload is too slow: fewer than ${PACE_BYTES} bytes in ${requestBodyTimeoutMs} ms.`;
    // First for the operations and the map together, then for each interval of the files.
    this.timer = setTimeout(() => {
      // Bytes that the operation does not read yet keep the client from sending more.
      if (this.isMapped && this.readableLength > 0) this.startInterval();
      else this.reject(new HttpError('REQUEST_TIMEOUT', message));
    }, requestBodyTimeoutMs);
    this.arrived = new Promise<void>((resolve) => {
      this.once('close', () => {
        clearTimeout(this.timer);
        resolve();
      });
    });
    exchange.onClose(() => {
      scope.memory.release(scope.caller, this.inMemory);
      this.inMemory = 0;
    });
    this.on('error', ignore);
    request.once('close', () => {
      if (!request.complete) this.reject(badUpload('The request ended early.'));
    });
  }

  /** The map was read: from now on bytes must arrive at a minimal pace. Each file in the operations becomes a request for it. */
  expectFiles(operations: object): void {
    this.isMapped = true;
    this.head = [];
    this.exchange.setReceived(0);
    this.startInterval();
    for (const [name, places] of this.places) {
      const variable = valueAt(operations, places[0]!) as FileVariable;
      const request = new FileRequest(name, variable, places.length, {
        fileOf: () => this.files.get(name),
        onNeed: () => this.holdUnread(),
        bound: this.boundOf(name),
      });
      this.requests.set(name, request);
      Object.assign(variable, { promise: request, toJSON: () => 'a file' }); // as messages show it
    }
  }

  /**
   * Holds files in memory if an operation waits for what comes after them: a file that it needs now, or the end of one that it has read.
   * Otherwise the parser waits for their readers, and the client for the parser.
   */
  private holdUnread(): void {
    const requests = [...this.requests.values()];
    const isAwaited = requests.some(({ name, isNeeded }) => isNeeded && !this.files.has(name));
    const isHeldBack = this.last?.isWaiting === true;
    if (!isAwaited && !isHeldBack) return;
    for (const [name, file] of this.files) {
      if (isHeldBack || !this.requests.get(name)?.isNeeded) file.holdInMemory(this.boundOf(name));
    }
  }

  private boundOf(name: string): MemoryBound {
    return { bytesBelow: this.scope.memory.fileBytesBelow, take: (bytes) => this.takeMemory(name, bytes) };
  }

  /** Counts bytes of a file that will be in memory. If they may not be, the request is rejected with the returned error. */
  private takeMemory(name: string, bytes: number): GraphQLError | undefined {
    if (this.exchange.isClosed) return fileErrorOf(badUpload('The request ended early.'));
    if (this.error) return fileErrorOf(this.error);
    const { memory, caller } = this.scope;
    const exceeded = memory.take(caller, bytes);
    if (exceeded) return this.reject(exceeded === 'caller' ? outOfOrder(name) : outOfMemory(name));
    this.inMemory += bytes;
    return undefined;
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
    this.parser.on('file', (name: string, stream: Readable, { filename }: { filename?: string }) =>
      this.addFile(name, stream, filename),
    );
    this.parser.on('finish', () => this.last?.release());
    return super.pipe(parser);
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (!this.isMapped && this.size < this.scope.config.maxBodyBytes + ENVELOPE_BYTES) this.head.push(chunk);
    this.size += chunk.length;
    if (!this.isMapped) this.exchange.setReceived(this.size);
    if (this.isMapped && this.size >= this.sizeAtInterval + PACE_BYTES) this.startInterval();
    if (this.size > this.maxBytes) this.reject(tooLarge(this.scope.config));
    for (const piece of this.markFiles(chunk)) this.push(piece);
    done();
  }

  private startInterval(): void {
    this.sizeAtInterval = this.size;
    this.timer.refresh();
  }

  /** Ends the request. Before the map is read the error is the response; after it, the readers of files receive it. */
  private reject(error: HttpError): GraphQLError {
    this.error ??= error;
    const fileError = fileErrorOf(error);
    this.last?.fail(fileError);
    for (const file of this.files.values()) if (!file.isOpen) file.destroy(fileError);
    this.parser?.destroy(fileError);
    this.destroy();
    return fileError;
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
      this.reject(new HttpError('UPLOAD_TOO_LARGE', `The map must have at most ${MAP_BYTES} bytes.`));
      return;
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
      this.reject(badUpload('Map each file to a place or several, and each place to one file.'));
      return;
    }
    this.places = new Map(Object.entries(map as Record<string, string[]>));
  }

  private addFile(name: string, stream: Readable, filename: string | undefined): void {
    stream.on('error', ignore); // the reader of the file gets the error
    const isKnown = this.places.has(name);
    if (!isKnown && filename === undefined) return; // a text; the library discards it
    if (!isKnown || this.files.has(name)) {
      this.reject(badUpload(`The file ${named(name)} ${isKnown ? 'was sent twice' : 'is not in the map'}.`));
      return;
    }
    this.last?.release();
    this.last = new HeldFile(name, stream, () => this.holdUnread());
    this.files.set(name, this.last);
    this.holdUnread();
  }
}

/** The value at a path such as `variables.input.pictures.0.file`, at which the library has put a file. */
const valueAt = (operations: object, path: string): unknown =>
  path.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)[key], operations);

const tooLarge = ({ maxUploadBytes }: Pick<Config, 'maxUploadBytes'>): HttpError =>
  new HttpError('UPLOAD_TOO_LARGE', `The files of a request must have at most ${maxUploadBytes} bytes together.`);

/** The error of a request as the readers of its files get it. */
const fileErrorOf = ({ message, code }: HttpError): GraphQLError => new GraphQLError(message, { extensions: { code } });

const badUpload = (message: string): HttpError => new HttpError('BAD_UPLOAD', message);

const outOfOrder = (name: string): HttpError =>
  badUpload(`The file ${named(name)} would have to be held in memory, and too much of this request is held already.`);

const outOfMemory = (name: string): HttpError =>
  new HttpError(
    'OVERLOADED',
    `The file ${named(name)} would have to be held in memory, and the server has none left for it.`,
  );
