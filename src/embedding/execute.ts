/** Operations of the embedding program: each is a request to the fetch handler of its facade, and the body of the response. */
import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FormattedExecutionResult } from 'graphql';
import type { SendRequest } from '../fetch-handler.ts';
import { type IncrementalFormat, type JsonType, SPECS } from '../server/http/request/accept.ts';

/** An operation, and who sent it. */
export interface ProgramRequest {
  /** The body of the request. A Blob or File of its variables is an upload. */
  readonly params: { readonly variables?: object | null | undefined };
  readonly headers: IncomingHttpHeaders;
  readonly address: string | undefined;
  /** `x-explain` is obeyed, whatever the setting is. */
  readonly mayExplain: boolean;
  readonly json: JsonType;
  /** Undefined if the response is to be whole. */
  readonly incremental: IncrementalFormat | undefined;
  readonly signal: AbortSignal | undefined;
}

export type ProgramAnswer = Pick<IncomingMessage, 'statusCode' | 'headers'>;

/** What a result, or a part of one, becomes for whoever reads it. */
type Show<Shown> = (result: FormattedExecutionResult, answer?: ProgramAnswer) => Shown;

export type Execute = ReturnType<typeof createExecute>;

/** Rejects if the signal is aborted, with its reason, and if the facade is closed. Whatever else is wrong is in the errors of the result. */
export function createExecute(send: SendRequest) {
  return async <Shown>(request: ProgramRequest, show: Show<Shown>): Promise<Shown | AsyncIterable<Shown>> => {
    const { address, mayExplain, json, incremental, signal } = request;
    signal?.throwIfAborted();
    const accept = incremental ? `multipart/mixed; ${SPECS[incremental]}, ${json}` : json;
    let content: Content;
    try {
      content = await contentOf(request.params);
    } catch (error) {
      return show(...notSent(error as Error)); // variables that JSON cannot have
    }
    const { body, ...type } = content;
    const given = { ...request.headers, ...type, accept, 'accept-encoding': 'identity', 'x-graphql-csrf': 'program' };
    const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    try {
      const incoming = await send({ method: 'POST', path: '/graphql', headers, body, signal, address, mayExplain });
      const [, boundary] = /boundary="(.*?)"/.exec(incoming.headers['content-type'] ?? '') ?? [];
      if (boundary) return partsOf(incoming, boundary, show);
      return show(JSON.parse(await textOf(incoming)) as FormattedExecutionResult, incoming);
    } catch (error) {
      signal?.throwIfAborted();
      if ((error as NodeJS.ErrnoException).code === 'ERR_INVALID_CHAR') return show(...notSent(error as Error));
      throw error;
    }
  };
}

const notSent = ({ message }: Error): [FormattedExecutionResult, ProgramAnswer] => [
  { errors: [{ message, extensions: { code: 'BAD_REQUEST' } }] },
  { statusCode: 400, headers: {} },
];

interface Content {
  readonly 'content-type': string;
  readonly body: string | Buffer;
}

/** JSON, or a form if files are among the variables. */
async function contentOf(params: ProgramRequest['params']): Promise<Content> {
  const files: [path: string, file: BlobLike][] = [];
  const variables = withoutFiles(params.variables, 'variables', files);
  const operations = JSON.stringify({ ...params, variables });
  if (files.length === 0) return { 'content-type': 'application/json', body: operations };
  const form = new FormData();
  form.append('operations', operations);
  form.append('map', JSON.stringify(Object.fromEntries(files.map(([path], at) => [at, [path]]))));
  // A server's library of fetch may have Blobs of its own.
  for (const [at, [, file]] of files.entries())
    form.append(String(at), new Blob([await file.arrayBuffer()]), file.name ?? 'blob');
  const encoded = new Response(form);
  return { 'content-type': encoded.headers.get('content-type')!, body: Buffer.from(await encoded.arrayBuffer()) };
}

type BlobLike = Pick<Blob, 'arrayBuffer' | 'type'> & { readonly name?: string };

/** A copy with null for each file, which is added to `files`. */
function withoutFiles(value: unknown, path: string, files: [string, BlobLike][]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('arrayBuffer' in value && typeof value.arrayBuffer === 'function') {
    files.push([path, value as BlobLike]);
    return null;
  }
  if (Array.isArray(value)) return value.map((each, at) => withoutFiles(each, `${path}.${at}`, files));
  const members = Object.entries(value).map(([name, each]) => [name, withoutFiles(each, `${path}.${name}`, files)]);
  return Object.fromEntries(members);
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of incoming.setEncoding('utf8') as AsyncIterable<string>) text += piece;
  return text;
}

/** The parts of a response. Whoever stops reading ends the operation, also before the first part: a generator ends only what it has begun. */
function partsOf<Shown>(incoming: IncomingMessage, boundary: string, show: Show<Shown>): AsyncIterable<Shown> {
  const parts = partsIn(incoming.setEncoding('utf8'), `\r\n--${boundary}`, show);
  const end = async () => {
    incoming.destroy();
    return parts.return();
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => parts.next(), return: end }) };
}

async function* partsIn<Shown>(texts: AsyncIterable<string>, delimiter: string, show: Show<Shown>) {
  let rest = '';
  for await (const text of texts) {
    const pieces = (rest + text).split(delimiter);
    rest = pieces.pop()!;
    for (const piece of pieces) {
      const head = piece.indexOf('\r\n\r\n');
      if (head >= 0) yield show(JSON.parse(piece.slice(head)) as FormattedExecutionResult);
    }
  }
}
