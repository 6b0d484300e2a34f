/**
 * Reads multipart requests with graphql-upload-minimal. An operation begins when its form has arrived, so a file is a value: it is checked
 * and hashed before anything is sent, may have several places, and may come in any order.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import { type Upload as FileVariable, processRequest } from 'graphql-upload-minimal';
import type { Config } from '../../../config/settings.ts';
import { type UploadedFile, putFile, uploadedFile } from '../../../engine/values/uploaded-file.ts';
import { wereDecodedWithLoss } from '../../../lib/text/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError } from '../response/http-error.ts';
import { type BodyReader, type BodySettings, checkSurrogates, invalidText } from './body.ts';
import { filesMarked } from './file-parts.ts';
import type { MemoryHold, UploadMemory } from './upload-memory.ts';

/** What uploads of a server share. */
export interface UploadScope {
  config: BodySettings & Pick<Config, 'maxUploadBytes' | 'maxPictures' | 'maxMutations'>;
  bodies: BodyReader;
  memory: UploadMemory;
}

export interface Upload {
  /** The form field of this name: one request or a list, with the files in their places. */
  operations: object;
  /** The memory of the form. It is released with the request. */
  memory: MemoryHold;
}

/** `sender`: the credential, if upstream has accepted it. */
export async function readUpload(
  exchange: Exchange,
  { config, bodies, memory: all }: UploadScope,
  sender: string | undefined,
): Promise<Upload> {
  const { request, response, lifetime } = exchange;
  const { maxBodyBytes, maxUploadBytes, maxPictures, maxMutations } = config;
  const maxBytes = Math.min(maxUploadBytes + maxBodyBytes + ENVELOPE_BYTES, all.maxBytes);
  const tooLarge = () => {
    const bytes = Math.min(maxUploadBytes, maxBytes);
    return new HttpError('UPLOAD_TOO_LARGE', `The files of a request must have at most ${bytes} bytes together.`);
  };
  const announced = Number(request.headers['content-length'] ?? maxBytes);
  if (announced > maxBytes) throw tooLarge();
  const memory = await all.reserve(sender, announced, lifetime);
  exchange.onClose(memory.release);
  const form = new Form(await bodies.receive(exchange, maxBytes, tooLarge), request.headers, maxBodyBytes);
  try {
    const limits = { maxFieldSize: maxBodyBytes, maxFiles: maxPictures * maxMutations };
    // The library uses only the headers and the stream of the request.
    const operations = await processRequest(form as unknown as IncomingMessage, response, limits);
    await form.readFiles(operations);
    return { operations, memory };
  } catch (error) {
    throw form.error ?? formError(error as Error);
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

/**
 * A form on its way to the parser of graphql-upload-minimal. It checks what the library lets pass. The library passes its parser to `pipe`;
 * it listens first, so its listeners have run when those of this class are called. `test/server/http/request/uploads.test.ts` fails if a
 * version of the library does this in another way.
 */
class Form extends Readable {
  readonly headers: IncomingHttpHeaders;
  /** Why the request was rejected. */
  error: HttpError | undefined;
  private readonly body: Buffer;
  private readonly maxBodyBytes: number;
  /** The places of each file by its name, as the map has them. */
  private places = new Map<string, string[]>();
  private readonly arrived = new Set<string>();
  /** Resolves when the parser has closed. */
  private parsed: Promise<void> | undefined;
  private malformed: Error | undefined;

  constructor(body: Buffer, headers: IncomingHttpHeaders, maxBodyBytes: number) {
    super();
    this.headers = headers;
    this.body = body;
    this.maxBodyBytes = maxBodyBytes;
    this.on('error', ignore);
  }

  override _read(): void {
    for (const piece of filesMarked(this.body, this.headers['content-type'])) this.push(piece);
    this.push(null);
  }

  /** Puts each file in its places. */
  async readFiles(operations: object): Promise<void> {
    if (this.error) throw this.error;
    const files = [...this.places].map(async ([name, [place]]) => {
      const variable = valueAt(operations, place!) as FileVariable;
      putFile(variable, await this.readFile(name, variable));
    });
    // What comes after the last file may be no form, or a file that the map does not have.
    await Promise.all([...files, this.parsed]);
    if (this.error) throw this.error as Error;
    if (this.malformed) throw this.malformed;
  }

  private async readFile(name: string, { promise }: FileVariable): Promise<UploadedFile> {
    try {
      const file = await promise;
      const bytes: Buffer[] = [];
      for await (const piece of file.createReadStream() as AsyncIterable<Buffer>) bytes.push(piece);
      return uploadedFile(name, bytes);
    } catch (error) {
      throw this.reject(fileError(name, error as Error));
    }
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
    this.once('close', () => this.error && (parser as unknown as Writable).destroy(this.error));
    return super.pipe(parser);
  }

  /** The first error counts. */
  private reject(error: HttpError): HttpError {
    this.error ??= error;
    this.destroy();
    return this.error;
  }

  private checkOperations(operations: string): void {
    try {
      const head = () => this.body.subarray(0, this.maxBodyBytes + ENVELOPE_BYTES);
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
