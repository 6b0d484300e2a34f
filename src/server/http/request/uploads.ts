/**
 * Reads multipart requests with graphql-upload-minimal. An operation begins when its form has arrived, so a file is a value: it is checked
 * and hashed before anything is sent, may have several paths, and may come in any order.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { type Upload as FileVariable, processRequest } from 'graphql-upload-minimal';
import type { Config } from '../../../config/settings.ts';
import { putFile, uploadedFile } from '../../../engine/values/uploaded-file.ts';
import { isPlainObject } from '../../../lib/objects.ts';
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
  /** The form field of this name: one request or a list, with the files at their paths. */
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
  const body = await bodies.receive(exchange, maxBytes, tooLarge);
  const limits = { maxFieldSize: maxBodyBytes, maxFiles: maxPictures * maxMutations };
  return { operations: await parsedForm(body, request.headers, response, limits), memory };
}

function formError(error: Error & { status?: number }): HttpError {
  if (error instanceof HttpError) return error;
  const { status, message } = error;
  return status === 413 ? new HttpError('UPLOAD_TOO_LARGE', message) : badUpload(`The form cannot be read: ${message}`);
}

/** The envelope of a multipart request: boundaries, headers of parts, the map. The operations have a limit of their own. */
const ENVELOPE_BYTES = 20_000;
const MAP_BYTES = 10_000;

/**
 * Has graphql-upload-minimal parse the form and put its files at their paths, and checks what the library lets pass. Of the request the
 * library uses the headers, and passes its parser to `pipe`.
 */
async function parsedForm(
  body: Buffer,
  headers: IncomingHttpHeaders,
  response: ServerResponse,
  limits: { maxFieldSize: number; maxFiles: number },
): Promise<object> {
  let failure: Error | undefined;
  let closed: Promise<unknown> | undefined;
  let given: unknown;
  let pathsOf: ReadonlyMap<string, readonly string[]> = new Map();
  const arrived = new Set<string>();
  const pipe = (parser: Writable): void => {
    closed = new Promise((resolve) => parser.once('close', resolve));
    const fail = (error: Error) => {
      failure ??= error;
      parser.destroy(error);
    };
    // Each malformed part emits an error, and the library listens for the first only.
    parser.on('error', (error: Error) => (failure ??= error));
    // Before the library, which would put a file at any path. What is thrown leaves `write`: both fields are in the first piece.
    parser.prependListener('field', (name: string, value: string) => {
      if (name === 'operations') given = checkedOperations(value, body, limits.maxFieldSize);
      if (name === 'map') pathsOf = checkedMap(value, given);
    });
    parser.on('file', (name: string, stream: Readable, { filename }: { filename?: string }) => {
      stream.on('error', ignore); // the reader of the file gets the error
      if (arrived.has(name)) fail(badUpload(`The file ${named(name)} was sent twice.`));
      // Without the name of a file it is a text, which the library discards.
      else if (pathsOf.has(name)) arrived.add(name);
      else if (filename !== undefined) fail(badUpload(`The file ${named(name)} is not in the map.`));
    });
    try {
      for (const piece of filesMarked(body, headers['content-type'])) if (!parser.destroyed) parser.write(piece);
      parser.end();
    } catch (error) {
      fail(error as Error);
    }
  };
  try {
    const source = { headers, pipe, unpipe: ignore, once: ignore, resume: ignore };
    const operations = await processRequest(source as unknown as IncomingMessage, response, limits);
    const files = [...pathsOf.values()].map(([path]) => readFile(valueAt(operations, path!) as FileVariable));
    // What comes after the last file may be no form, or a file that the map does not have.
    await Promise.all([...files, closed]);
    if (failure) throw failure;
    return operations;
  } catch (error) {
    const cause = failure ?? (error as Error);
    const missing = [...pathsOf.keys()].find((name) => !arrived.has(name));
    throw missing !== undefined && cause.message === MISSING
      ? badUpload(`The file ${named(missing)} is in the map, but not in the request.`)
      : formError(cause);
  }
}

/** The library's message for a file that the map has. */
const MISSING = 'File missing in the request.';

async function readFile(variable: FileVariable): Promise<void> {
  const file = await variable.promise;
  const bytes: Buffer[] = [];
  for await (const piece of file.createReadStream() as AsyncIterable<Buffer>) bytes.push(piece);
  putFile(variable, uploadedFile(file.fieldName, bytes));
}

/** The value of the field `operations`; undefined if it is no JSON, which the library rejects. */
function checkedOperations(text: string, body: Buffer, maxBytes: number): unknown {
  const head = () => body.subarray(0, maxBytes + ENVELOPE_BYTES);
  if (wereDecodedWithLoss([text], head)) throw invalidText('The operations are not UTF-8.');
  checkSurrogates(text);
  return parsedOrUndefined(text);
}

/** The paths of each file by its name. A file may have several paths; a path has one file and is one of the operations. */
function checkedMap(text: string, operations: unknown): ReadonlyMap<string, readonly string[]> {
  if (Buffer.byteLength(text) > MAP_BYTES)
    throw new HttpError('UPLOAD_TOO_LARGE', `The map must have at most ${MAP_BYTES} bytes.`);
  const map = parsedOrUndefined(text);
  if (!isPlainObject(map)) return new Map(); // the library rejects it
  const paths = Object.values(map).flat().map(String);
  const isMap = Object.values(map).every((each) => Array.isArray(each) && each.length > 0);
  if (!isMap || new Set(paths).size < paths.length)
    throw badUpload('Map each file to a place or several, and each place to one file.');
  const wrong = paths.find((path) => !hasPath(operations, path));
  if (wrong !== undefined) throw badUpload(`The operations have no place ${named(wrong)}.`);
  return new Map(Object.entries(map as Record<string, string[]>));
}

/** Only what is in the operations: else a list would grow to its index, or a function that all objects inherit would get a member. */
function hasPath(operations: unknown, path: string): boolean {
  const keys = path.split('.');
  const last = keys.pop()!;
  const parent = keys.reduce<unknown>(
    (value, key) =>
      (isPlainObject(value) || Array.isArray(value)) && Object.hasOwn(value, key) ? value[key as never] : undefined,
    operations,
  );
  return Array.isArray(parent) ? Object.hasOwn(parent, last) : isPlainObject(parent);
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The value at a path such as `variables.input.pictures.0.file`, at which the library has put a file. */
const valueAt = (operations: object, path: string): unknown =>
  path.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)[key], operations);

const ignore = (): void => undefined;

const badUpload = (message: string): HttpError => new HttpError('BAD_UPLOAD', message);

/** A name that a client has chosen, as messages show it. */
const named = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
