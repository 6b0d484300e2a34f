/**
 * Reads multipart requests with graphql-upload-minimal, within limits of size, pace and memory. An operation begins when its files have
 * arrived, so a file is a value: it is checked and hashed before anything is sent, may have several places, and may come in any order.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { type Upload as FileVariable, processRequest } from 'graphql-upload-minimal';
import type { Config } from '../../../config/settings.ts';
import { type UploadedFile, putFile } from '../../../engine/values/uploaded-file.ts';
import { wereDecodedWithLoss } from '../../../lib/text/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError, discardBody } from '../response/http-error.ts';
import { type BodySettings, checkSurrogates, invalidText } from './body.ts';
import { fileError, named } from './file-error.ts';
import { markFiles } from './file-parts.ts';
import type { UploadMemory } from './upload-memory.ts';

/** What uploads of a server share, and who sent this one. */
export interface UploadScope {
  config: BodySettings & Pick<Config, 'maxUploadBytes' | 'maxPictures' | 'maxMutations' | 'uploadTimeoutMs'>;
  memory: UploadMemory;
  caller: string;
}

/** Returns the form field `operations`, with the files in their places. */
export async function readUpload(exchange: Exchange, scope: UploadScope): Promise<object> {
  const { request, response } = exchange;
  const { maxBodyBytes, maxPictures, maxMutations, requestBodyTimeoutMs } = scope.config;
  const form = new Form(exchange, scope);
  const length = Number(request.headers['content-length']) || form.maxBytes;
  exchange.onClose(await scope.memory.reserve(scope.caller, length, scope.config.uploadTimeoutMs));
  exchange.onClose(() => {
    request.unpipe(form);
    form.destroy();
    if (request.complete || request.destroyed) return;
    discardBody(request, requestBodyTimeoutMs, () => {
      if (!request.complete) request.destroy();
    });
  });
  form.start();
  request.pipe(form);
  try {
    const limits = { maxFieldSize: maxBodyBytes, maxFiles: maxPictures * maxMutations };
    // The library uses only the headers and the stream of the request.
    const operations = await processRequest(form as unknown as IncomingMessage, response, limits);
    if (!form.error) await form.readFiles(operations);
    if (form.error) throw form.error as Error;
    return operations;
  } catch (error) {
    throw form.error ?? (error instanceof HttpError ? error : formError(error as Error));
  } finally {
    form.end();
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
/** So many bytes must arrive in each interval. */
const PACE_BYTES = 256_000;

/**
 * The body of a multipart request on its way to the parser of graphql-upload-minimal. It enforces the limits, and checks what the library
 * lets pass. The library passes its parser to `pipe`; it listens first, so its listeners have run when those of this class are called.
 */
class Form extends Transform {
  readonly headers: IncomingHttpHeaders;
  /** Why the request was rejected. */
  error: HttpError | undefined;
  private readonly exchange: Exchange;
  private readonly scope: UploadScope;
  readonly maxBytes: number;
  private timer: NodeJS.Timeout | undefined;
  private readonly markFiles: (chunk: Buffer) => Buffer[];
  /** The places of each file by its name, as the map has them. */
  private places = new Map<string, string[]>();
  private readonly arrived = new Set<string>();
  /** The bytes before the map, to check that the operations are UTF-8. */
  private head: Buffer[] = [];
  private size = 0;
  private sizeAtInterval = 0;
  private isMapped = false;

  /** Throws an HttpError if the request announces more bytes than allowed. */
  constructor(exchange: Exchange, scope: UploadScope) {
    super();
    const { headers } = exchange.request;
    const { maxBodyBytes, maxUploadBytes } = scope.config;
    this.exchange = exchange;
    this.scope = scope;
    this.headers = headers;
    this.markFiles = markFiles(headers['content-type']);
    this.maxBytes = maxUploadBytes + maxBodyBytes + ENVELOPE_BYTES;
    if (Number(headers['content-length']) > this.maxBytes) throw tooLarge(scope.config);
    this.once('close', () => clearTimeout(this.timer));
    this.on('error', ignore);
    exchange.request.once('close', () => {
      if (!exchange.request.complete) this.reject(badUpload('The request ended early.'));
    });
  }

  /** Begins to watch the pace: first for the operations and the map together, then for each interval of the files. */
  start(): void {
    const { requestBodyTimeoutMs } = this.scope.config;
    const message = `The upload is too slow: fewer than ${PACE_BYTES} bytes in ${requestBodyTimeoutMs} ms.`;
    this.timer = setTimeout(() => this.reject(new HttpError('REQUEST_TIMEOUT', message)), requestBodyTimeoutMs);
  }

  /** Puts each file in its places. */
  async readFiles(operations: object): Promise<void> {
    this.isMapped = true;
    this.head = [];
    this.exchange.setReceived(0);
    this.startInterval();
    await Promise.all(
      [...this.places].map(async ([name, [place]]) => {
        const variable = valueAt(operations, place!) as FileVariable;
        putFile(variable, await this.readFile(name, variable));
      }),
    );
  }

  /** No more is kept of a file than shows that it is too large. */
  private async readFile(name: string, { promise }: FileVariable): Promise<UploadedFile> {
    const { fileBytesBelow } = this.scope.memory;
    const hash = createHash('sha256');
    const bytes: Buffer[] = [];
    let size = 0;
    try {
      const upload = await promise;
      for await (const chunk of upload.createReadStream() as AsyncIterable<Buffer>) {
        hash.update(chunk);
        if (size < fileBytesBelow) bytes.push(chunk);
        size += chunk.length;
      }
    } catch (error) {
      throw this.error ?? this.reject(error instanceof HttpError ? error : fileError(name, error as Error));
    }
    return { name, size, bytes, digest: hash.digest('base64url') };
  }

  override pipe<T extends NodeJS.WritableStream>(parser: T): T {
    parser.on('error', ignore); // each malformed part emits an error, and the library listens for the first only
    parser.on('field', (name: string, value: string) => {
      if (name === 'map') this.readMap(value);
      if (name === 'operations') this.checkOperations(value);
    });
    parser.on('file', (name: string, stream: Readable, { filename }: { filename?: string }) => {
      stream.on('error', ignore); // the reader of the file gets the error
      const isKnown = this.places.has(name);
      if (!isKnown && filename === undefined) return; // a text; the library discards it
      if (!isKnown || this.arrived.has(name))
        this.reject(badUpload(`The file ${named(name)} ${isKnown ? 'was sent twice' : 'is not in the map'}.`));
      this.arrived.add(name);
    });
    this.once('close', () => (parser as unknown as Transform).destroy(this.error));
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
    this.timer?.refresh();
  }

  private reject(error: HttpError): HttpError {
    this.error ??= error;
    this.destroy();
    return this.error;
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
    if (Buffer.byteLength(text) > MAP_BYTES)
      return void this.reject(new HttpError('UPLOAD_TOO_LARGE', `The map must have at most ${MAP_BYTES} bytes.`));
    let map: unknown;
    try {
      map = JSON.parse(text);
    } catch {
      return; // the library rejects it
    }
    if (typeof map !== 'object' || map === null) return; // the library rejects this too
    const places = Object.values(map).flat();
    const isPlaced = Object.values(map).every((paths) => Array.isArray(paths) && paths.length > 0);
    if (!isPlaced || new Set(places).size < places.length)
      return void this.reject(badUpload('Map each file to a place or several, and each place to one file.'));
    this.places = new Map(Object.entries(map as Record<string, string[]>));
  }
}

/** The value at a path such as `variables.input.pictures.0.file`, at which the library has put a file. */
const valueAt = (operations: object, path: string): unknown =>
  path.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)[key], operations);

const ignore = (): void => undefined;

const tooLarge = ({ maxUploadBytes }: Pick<Config, 'maxUploadBytes'>): HttpError =>
  new HttpError('UPLOAD_TOO_LARGE', `The files of a request must have at most ${maxUploadBytes} bytes together.`);

const badUpload = (message: string): HttpError => new HttpError('BAD_UPLOAD', message);
