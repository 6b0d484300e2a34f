import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that never becomes an operation: told in the shape of a GraphQL answer, with an HTTP status. */
export class RequestRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'RequestRefusal';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A body that is thrown away sooner than its connection. */
const DUMPED_MAX = 65_536;

export function refusalBody(code: string, message: string, requestId?: string): string {
  return JSON.stringify({ errors: [{ message, extensions: { code, requestId } }] });
}

export function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: RequestRefusal): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = refusalBody(refusal.code, refusal.message, String(response.getHeader('x-request-id') ?? ''));
  // What is left of the body is not read, so the connection cannot be used again; but who is asked to wait should not have to
  // connect anew.
  const isDumped = refusal.status === 503 && Number(request.headers['content-length'] ?? 0) <= DUMPED_MAX;
  if (!request.complete && !isDumped) response.setHeader('connection', 'close');
  response.writeHead(refusal.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...refusal.headers,
  });
  response.end(body);
}
