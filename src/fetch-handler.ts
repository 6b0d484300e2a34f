/**
 * A fetch handler for programs that have a port of their own. Each request is sent to the HTTP server over an in-memory connection, so
 * `fetch` behaves as a socket does: limits, CSRF checks, uploads and incremental delivery included.
 */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, type Server, request } from 'node:http';
import { type Duplex, Readable, duplexPair } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { trace } from '@opentelemetry/api';
import { settlesWithin } from './lib/promises.ts';
import { addTraceHeaders } from './lib/trace-context.ts';

/** A request of the program. */
interface SentRequest extends Client {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Readable | Buffer | string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What the server knows of an in-memory connection. */
interface Client {
  readonly address?: string | undefined;
  /** `x-explain` is obeyed, whatever the setting is. */
  readonly mayExplain?: boolean;
}

/** Rejects if the signal is aborted, with its reason, and if the facade is closed. */
export type SendRequest = (request: SentRequest) => Promise<IncomingMessage>;

/** Headers of a connection. The in-memory connection is another one, and Node computes the length again. */
const CONNECTION_HEADERS = [
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

export function createFetchHandler(server: Server) {
  const running = new Set<ClientRequest>();
  let isClosed = false;

  const send: SendRequest = async ({ method, path, headers: given, body, signal, ...client }) => {
    if (isClosed) throw new Error('The facade is closed.');
    signal?.throwIfAborted();
    const headers: OutgoingHttpHeaders = { host: 'facade', ...given };
    for (const name of CONNECTION_HEADERS) delete headers[name];
    passActiveSpan(headers);
    const outgoing = request({ method, path, headers, createConnection: () => connection(server, client) });
    const abort = () => outgoing.destroy(signal!.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    running.add(outgoing);
    outgoing.once('close', () => {
      signal?.removeEventListener('abort', abort);
      running.delete(outgoing);
    });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    outgoing.on('error', () => undefined); // after the response has begun, its reader gets the error
    if (body instanceof Readable) pipeBody(body, outgoing);
    else outgoing.end(body);
    const [incoming] = await answered;
    // The server need not read what is left of the request, so our end of the connection might never be flushed.
    incoming.once('end', () => incoming.socket.destroy());
    return incoming;
  };

  return {
    send,
    async fetch(request: Request, from?: { address?: string } | null): Promise<Response> {
      const { method, signal } = request;
      const { pathname, search, host } = new URL(request.url);
      const headers = { host, ...Object.fromEntries(request.headers) };
      const sent = { method, path: pathname + search, headers, signal, address: from?.address };
      return toResponse(await send({ ...sent, body: bodyOf(request) }), method);
    },
    /** Waits for running requests, and aborts those that do not end in time. */
    async close(withinMs: number): Promise<void> {
      isClosed = true;
      const ended = Promise.all(
        [...running].map((outgoing) => new Promise((resolve) => outgoing.once('close', resolve))),
      );
      if (await settlesWithin(withinMs, ended)) return;
      for (const outgoing of running) outgoing.destroy(new Error('The facade was closed.'));
      await ended;
    },
  };
}

/** A connected pair of streams. The server gets one end; each end closes with the other, as with a socket. */
function connection(server: Server, { address: remoteAddress, mayExplain }: Client): Duplex {
  const [ours, theirs] = duplexPair();
  ours.once('close', () => theirs.destroy());
  theirs.once('close', () => {
    if (!ours.readableEnded) ours.destroy();
  });
  server.emit('connection', Object.assign(theirs, { remoteAddress, mayExplain }));
  return ours;
}

/** Sends the active span of the program as headers, because the in-memory connection or a queue may lose its async context. */
function passActiveSpan(headers: OutgoingHttpHeaders): void {
  const span = trace.getActiveSpan();
  if (!span) return;
  const traced: string[] = [];
  addTraceHeaders(span.spanContext(), traced);
  for (let at = 0; at < traced.length; at += 2) headers[traced[at]!] = traced[at + 1]!;
}

function bodyOf({ body, bodyUsed }: Request): Readable | undefined {
  if (bodyUsed) throw new TypeError('The body of the request was already read.');
  return body ? Readable.fromWeb(body as ReadableStream) : undefined;
}

function pipeBody(body: Readable, outgoing: ClientRequest): void {
  // The response may come before the body is read completely, for example if the body is too large.
  outgoing.once('close', () => body.destroy());
  body.on('error', (error) => outgoing.destroy(error));
  body.pipe(outgoing);
}

function toResponse(incoming: IncomingMessage, method: string): Response {
  const { statusCode = 500, headersDistinct } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    // The program sets the date itself.
    if (CONNECTION_HEADERS.includes(name) && name !== 'content-length') continue;
    if (name !== 'date') for (const value of values) headers.append(name, value);
  }
  const isEmpty = method === 'HEAD' || STATUSES_WITHOUT_BODY.has(statusCode);
  if (isEmpty) incoming.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(incoming) as BodyInit), { status: statusCode, headers });
}
