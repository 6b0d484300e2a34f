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
import { type CancellationListener, addListener, removeListener } from '../../../lib/cancellation.ts';
import { wereDecodedWithLoss } from '../../../lib/text/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError, discardBody, overloaded } from '../response/http-error.ts';
import { type BodySettings, checkSurrogates, invalidText } from './body.ts';
import { markFiles } from './file-parts.ts';
import { Blocks, type MemoryHold, type UploadMemory } from './upload-memory.ts';

/** What uploads of a server share. */
export interface UploadScope {
  config: BodySettings & Pick<Config, 'maxUploadBytes' | 'maxPictures' | 'maxMutations'>;
  memory: UploadMemory;
  /** The size that no file may have. */
  fileBytesBelow: number;
}

export interface Upload {
  /** The form field of this name: one request or a list, with the files in their places. */
  operations: object;
  /** The memory of the form. It is released with the request. */
  memory: MemoryHold;
}

/** `sender`: the credential, if upstream has accepted it. */
export async function readUpload(exchange: Exchange, scope: UploadScope, sender: string | undefined): Promise<Upload> {
  const { request, response, lifetime } = exchange;
  const { maxBodyBytes, maxPictures, maxMutations, requestBodyTimeoutMs } = scope.config;
  const form = new Form(exchange, scope);
  const memory = await scope.memory.reserve(sender, form.announcedBytes, lifetime);
  exchange.onClose(memory.release);
  exchange.onClose(() => {
    request.unpipe(form);
    form.reject(endedEarly());
    if (request.complete || request.destroyed) return;
    discardBody(request, requestBodyTimeoutMs, () => {
      if (!request.complete) request.destroy();
    });
  });
  form.startInterval();
  addListener(lifetime, form);
  request.pipe(form);
  try {
    const limits = { maxFieldSize: maxBodyBytes, maxFiles: maxPictures * maxMutations };
    // The library uses only the headers and the stream of the request.
    const operations = await processRequest(form as unknown as IncomingMessage, response, limits);
    await form.readFiles(operations);
    return { operations, memory };
  } catch (error) {
    throw form.error ?? formError(error as Error);
  } finally {
    removeListener(lifetime, form);
    form.stop();
  }
}

function formError({ status, message }: Error & { status?: number }): HttpError {
  return status === 413
    ? new HttpError('UPLOAD_TOO_LARGE', message)
    : badUpload(`This is not a GraphQL multipart request: ${message}`);
}

/** The envelope of a multipart request: boundaries, headers of parts, the map. The operations have a limit of their own. */
const ENVELOPE_BYTES = 20_000;
const MAP_BYTES = 10_000;
/** So many bytes must arrive in each interval, because the memory of the form is held meanwhile. */
const PACE_BYTES = 256_000;

/**
 * The body of a multipart request on its way to the parser of graphql-upload-minimal. It enforces the limits, and checks what the library
 * lets pass. The library passes its parser to `pipe`; it listens first, so its listeners have run when those of this class are called.
 * `test/server/http/request/uploads.test.ts` fails if a version of the library does this in another way.
 */
class Form extends Transform implements CancellationListener {
  readonly headers: IncomingHttpHeaders;
  /** Its length; of one that does not say it the largest. */
  readonly announcedBytes: number;
  /** Why the request was rejected. */
  error: HttpError | undefined;
  private readonly exchange: Exchange;
  private readonly scope: UploadScope;
  private readonly maxBytes: number;
  private timer: NodeJS.Timeout | undefined;
  private readonly markFiles: (chunk: Buffer) => Buffer[];
  /** The places of each file by its name, as the map has them. */
  private places = new Map<string, string[]>();
  private readonly arrived = new Set<string>();
  /** The bytes before the map, to check that the operations are UTF-8. */
  private head: Buffer[] = [];
  private size = 0;
  private sizeAtInterval = 0;
  /** Resolves when the parser has closed. */
  private parsed: Promise<void> | undefined;
  private malformed: Error | undefined;
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
    this.maxBytes = Math.min(maxUploadBytes + maxBodyBytes + ENVELOPE_BYTES, scope.memory.maxBytes);
    this.announcedBytes = Number(headers['content-length'] ?? this.maxBytes);
    if (this.announcedBytes > this.maxBytes) throw this.tooLarge();
    this.on('error', ignore);
  }

  /** Puts each file in its places. */
  async readFiles(operations: object): Promise<void> {
    if (this.error) throw this.error;
    this.isMapped = true;
    this.head = [];
    this.exchange.setReceived(0);
    this.startInterval();
    const files = [...this.places].map(async ([name, [place]]) => {
      const variable = valueAt(operations, place!) as FileVariable;
      putFile(variable, await this.readFile(name, variable));
    });
    // What comes after the last file may be no form, or a file that the map does not have.
    await Promise.all([...files, this.parsed]);
    if (this.error) throw this.error as Error;
    if (this.malformed) throw this.malformed;
  }

  /** Keeps no more of a file that is larger than any may be than shows it. */
  private async readFile(name: string, { promise }: FileVariable): Promise<UploadedFile> {
    const hash = createHash('sha256');
    const kept = new Blocks();
    let size = 0;
    try {
      const file = await promise;
      for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
        hash.update(chunk);
        if (size < this.scope.fileBytesBelow) kept.add(chunk);
        size += chunk.length;
      }
    } catch (error) {
      throw this.reject(fileError(name, error as Error));
    }
    return { name, size, bytes: kept.bytes(), digest: hash.digest('base64url') };
  }

  override pipe<T extends NodeJS.WritableStream>(parser: T): T {
    // Each malformed part emits an error, and the library listens for the first only.
    parser.on('error', (error: Error) => (this.malformed ??= error));
    this.parsed = new Promise((resolve) => parser.once('close', resolve));
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
    if (this.size > this.maxBytes) this.reject(this.tooLarge());
    for (const piece of this.markFiles(chunk)) this.push(piece);
    done();
  }

  /** An interval for the operations and the map together, then for each part of the files. */
  startInterval(): void {
    const { requestBodyTimeoutMs } = this.scope.config;
    const message = `The upload is too slow: fewer than ${PACE_BYTES} bytes in ${requestBodyTimeoutMs} ms.`;
    this.timer ??= setTimeout(() => this.reject(new HttpError('REQUEST_TIMEOUT', message)), requestBodyTimeoutMs);
    this.timer.refresh();
    this.sizeAtInterval = this.size;
  }

  /** Everything has arrived, or the request was rejected. */
  stop(): void {
    clearTimeout(this.timer);
    this.end();
  }

  /** The server ends, or the client has left, who does not read it. */
  onCancel({ message }: Error): void {
    this.reject(overloaded(message));
  }

  /** The first error counts. */
  reject(error: HttpError): HttpError {
    this.error ??= error;
    this.destroy();
    return this.error;
  }

  private tooLarge(): HttpError {
    const { maxUploadBytes } = this.scope.config;
    const bytes = Math.min(maxUploadBytes, this.maxBytes);
    return new HttpError('UPLOAD_TOO_LARGE', `The files of a request must have at most ${bytes} bytes together.`);
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

const badUpload = (message: string): HttpError => new HttpError('BAD_UPLOAD', message);

const endedEarly = (): HttpError => badUpload('The request ended early.');

/** Why a file of a request cannot be read, from an error of the library, its parser or their streams. */
const fileError = (name: string, { message }: Error): HttpError =>
  badUpload(`The file ${named(name)} ${CAUSES[message] ?? `cannot be read: ${message}`}`);

/** What the messages of graphql-upload-minimal and of its parser mean for a file. */
const CAUSES: Readonly<Record<string, string>> = {
  'File missing in the request.': 'is in the map, but not in the request.',
  'Unexpected end of file': 'is incomplete: the request ended within it.',
  'Unexpected end of form': 'is incomplete: the request ended before the end of the form.',
  'Malformed part header': 'is incomplete: the headers of a part of the form are malformed.',
};

/** A name that a client has chosen, as messages show it. */
const named = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
