/** Reads multipart requests with graphql-upload-minimal, within limits of size and pace. Files are streamed, never buffered whole. */
import type { ReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type FileUpload, Upload as FileVariable, processRequest } from 'graphql-upload-minimal';
import type { Config } from '../../config/settings.ts';
import type { Exchange } from './exchange.ts';
import { HttpError, discardBody } from './http-error.ts';
import { type GraphqlParams, checkParams } from './request-body.ts';
import { UploadBody } from './upload-body.ts';

export interface Upload {
  params: GraphqlParams;
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
    const params = checkParams(operations);
    replaceFiles(params, (file) => ({ ...file, createReadStream: () => body.streamOf(file) as ReadStream }));
    return { params, end: body.arrived };
  } catch (error) {
    throw body.error ?? (error instanceof HttpError ? error : formError(error as Error));
  }
}

function formError({ status, message }: Error & { status?: number }): HttpError {
  return status === 413
    ? new HttpError(413, 'UPLOAD_TOO_LARGE', message)
    : new HttpError(400, 'BAD_UPLOAD', `This is not a GraphQL multipart request. ${message}`);
}

/** Replaces each file in the parameters by one that is made from it. */
function replaceFiles(params: object, replace: (file: FileUpload) => FileUpload): void {
  const waiting: object[] = [params]; // an explicit stack, because JSON can nest deeper than the call stack
  for (let each = waiting.pop(); each; each = waiting.pop()) {
    for (const [key, value] of Object.entries(each) as [string, unknown][]) {
      if (value instanceof FileVariable) (each as Record<string, unknown>)[key] = replaced(value, replace);
      else if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
}

function replaced(variable: FileVariable, replace: (file: FileUpload) => FileUpload): FileVariable {
  const promise = variable.promise.then(replace);
  promise.catch(() => undefined); // the resolver that uses the file gets the error
  return Object.assign(new FileVariable(), { promise, toJSON: () => 'a file' }); // as messages show it
}
