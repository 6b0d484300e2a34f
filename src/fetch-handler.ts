/**
 * A fetch handler for programs that have a port of their own. Each request is sent to the HTTP server over an in-memory connection, so
 * `fetch` behaves as a socket does: limits, CSRF checks, uploads and incremental delivery included.
 */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type Server, request as send } from 'node:http';
import { type Duplex, Readable, duplexPair } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { trace } from '@opentelemetry/api';
import { settlesWithin } from './lib/promises.ts';
import { addTraceHeaders } from './lib/trace-context.ts';

export type FetchHandler = ReturnType<typeof createFetchHandler>;

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

  return {
    async fetch(request: Request, options?: { address?: string } | null): Promise<Response> {
      if (isClosed) throw new Error('The facade is closed.');
      request.signal.throwIfAborted();
      const body = bodyOf(request);
      const { pathname, search, host } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      for (const name of CONNECTION_HEADERS) delete headers[name];
      passActiveSpan(headers);
      const outgoing = send({
        method: request.method,
        path: pathname + search,
        headers: { host, ...headers },
        createConnection: () => connection(server, options?.address),
      });
      const abort = () => outgoing.destroy(request.signal.reason as Error);
      request.signal.addEventListener('abort', abort, { once: true });
      running.add(outgoing);
      outgoing.once('close', () => {
        request.signal.removeEventListener('abort', abort);
        running.delete(outgoing);
      });
      const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
      outgoing.on('error', () => undefined); // after the response has begun, its reader gets the error
      if (body) pipeBody(body, outgoing);
      else outgoing.end();
      const [incoming] = await answered;
      // The server need not read what is left of the request, so our end of the connection might never be flushed.
      incoming.once('end', () => incoming.socket.destroy());
      return toResponse(incoming, request.method);
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
function connection(server: Server, address: string | undefined): Duplex {
  const [ours, theirs] = duplexPair();
  ours.once('close', () => theirs.destroy());
  theirs.once('close', () => {
    if (!ours.readableEnded) ours.destroy();
  });
  server.emit('connection', Object.assign(theirs, { remoteAddress: address }));
  return ours;
}

/** Sends the active span of the program as headers, because the in-memory connection or a queue may lose its async context. */
export function passActiveSpan(headers: Record<string, string>): void {
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
