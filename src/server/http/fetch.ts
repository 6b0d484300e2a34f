/**
 * A fetch handler over the server, for a program that has a port of its own: each request goes to it by a connection in memory.
 * So what a socket is answered is what `fetch` is answered: limits, forgery, uploads, pieces and all.
 */
import { type ClientRequest, type IncomingMessage, type Server, request as send } from 'node:http';
import { type Duplex, Readable, duplexPair } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { trace } from '@opentelemetry/api';
import { addTraceHeaders } from '../../lib/trace-context.ts';

export interface FetchHandler {
  fetch: (request: Request, from?: { address?: string }) => Promise<Response>;
  /** Lets what was asked end, and cuts off what has not ended in time. */
  close: (withinMs: number) => Promise<void>;
}

/** They tell of a connection, and the request comes by another here; the length is counted anew. */
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

export function createFetchHandler(server: Server): FetchHandler {
  const asked = new Set<ClientRequest>();
  let isClosed = false;
  let onEmpty = () => undefined as void;

  return {
    async fetch(request, { address } = {}) {
      if (isClosed) throw new Error('The facade is closed.');
      request.signal.throwIfAborted();
      const body = bodyOf(request);
      const { pathname, search, host } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      for (const name of CONNECTION_HEADERS) delete headers[name];
      passActiveSpan(headers);
      const question = send({
        method: request.method,
        path: pathname + search,
        headers: { host, ...headers },
        createConnection: () => connection(server, address),
      });
      const leave = () => question.destroy(request.signal.reason as Error);
      request.signal.addEventListener('abort', leave, { once: true });
      asked.add(question);
      question.once('close', () => {
        request.signal.removeEventListener('abort', leave);
        asked.delete(question);
        if (asked.size === 0) onEmpty();
      });
      const answer = answerTo(question);
      if (body) pass(body, question);
      else question.end();
      return response(await answer, request.method);
    },
    async close(withinMs) {
      isClosed = true;
      if (asked.size === 0) return;
      const ended = new Promise<void>((resolve) => (onEmpty = resolve));
      const cut = setTimeout(() => {
        for (const question of asked) question.destroy(new Error('The facade was closed.'));
      }, withinMs);
      await ended;
      clearTimeout(cut);
    },
  };
}

/** Two ends of which one is given to the server: as with a socket, neither outlives the other. */
function connection(server: Server, address: string | undefined): Duplex {
  const [ours, theirs] = duplexPair();
  ours.once('close', () => theirs.destroy());
  theirs.once('close', () => {
    if (!ours.readableEnded) ours.destroy();
  });
  server.emit('connection', Object.assign(theirs, { remoteAddress: address }));
  return ours;
}

/** The request goes through a connection in memory, where the async context of the program may be lost. */
function passActiveSpan(headers: Record<string, string>): void {
  const span = trace.getActiveSpan();
  if (!span) return;
  const traced: string[] = [];
  addTraceHeaders(span.spanContext(), traced);
  for (let at = 0; at < traced.length; at += 2) headers[traced[at]!] = traced[at + 1]!;
}

function answerTo(question: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    question.once('response', resolve);
    // Stays: after the answer has begun, who reads it is told, and nobody else.
    question.on('error', reject);
  });
}

function bodyOf({ body, bodyUsed }: Request): Readable | undefined {
  if (bodyUsed) throw new TypeError('The body of the request was read before it came here.');
  return body ? Readable.fromWeb(body as ReadableStream) : undefined;
}

function pass(body: Readable, question: ClientRequest): void {
  // The answer may come before the whole question is read: a body too large, say.
  question.once('close', () => body.destroy());
  body.on('error', (error) => question.destroy(error));
  body.pipe(question);
}

function response(answer: IncomingMessage, method: string): Response {
  const { statusCode = 500, headersDistinct } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    // The host says the date itself.
    if (CONNECTION_HEADERS.includes(name) && name !== 'content-length') continue;
    if (name !== 'date') for (const value of values) headers.append(name, value);
  }
  const isEmpty = method === 'HEAD' || STATUSES_WITHOUT_BODY.has(statusCode);
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as BodyInit), { status: statusCode, headers });
}
