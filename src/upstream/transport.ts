/** The shared connection: pools, timeouts, sizes, inflating, retries, and reads in flight shared by all who ask the same. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import { Agent, type Dispatcher, errors } from 'undici';
import type { Config } from '../config.ts';
import { type Service, UpstreamFault, type UpstreamWord } from './refusal.ts';

/** One request as it goes on the wire. */
export interface WireRequest {
  service: Service;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, to be put behind the service's base. */
  path: string;
  headers: Record<string, string>;
  body?: string | Readable;
  maxBytes: number;
  /** The request line a client may see. */
  line: string;
}

export interface WireAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  bytes: number;
  attempts: number;
}

export interface Transport {
  /** Sends it; a GET is tried again when the connection is lost or a gateway fails. Rejects with UpstreamFault. */
  send: (request: WireRequest, signal: AbortSignal) => Promise<WireAnswer>;
  close: () => Promise<void>;
}

export type TransportSettings = Pick<
  Config,
  | 'connectTimeoutMs'
  | 'headersTimeoutMs'
  | 'bodyTimeoutMs'
  | 'callTimeoutMs'
  | 'maxBusyConnections'
  | 'readAttempts'
  | 'maxHeaderBytes'
> & { baseUrl: string; eventBaseUrl: string };

const inflate = promisify(gunzip);
const gatewayFailures = [502, 503, 504];

export function createTransport(settings: TransportSettings, dispatcher?: Dispatcher): Transport {
  const bases = { catalog: new URL(settings.baseUrl), event: new URL(settings.eventBaseUrl) };
  const agent =
    dispatcher ??
    new Agent({
      connections: settings.maxBusyConnections,
      connect: { timeout: settings.connectTimeoutMs },
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: settings.bodyTimeoutMs,
      maxHeaderSize: settings.maxHeaderBytes,
    });

  return {
    async send(request, signal) {
      const deadline = performance.now() + settings.callTimeoutMs;
      const attempts = request.method === 'GET' ? settings.readAttempts : 1;
      for (let attempt = 1; ; attempt++) {
        try {
          const answer = await once(request, signal, deadline);
          if (!gatewayFailures.includes(answer.status) || attempt >= attempts) return { ...answer, attempts: attempt };
        } catch (error) {
          if (attempt >= attempts || !isConnectionLoss(error)) throw faultOf(request, error, signal);
        }
        const pause = Math.random() * 60 * 2 ** attempt;
        if (performance.now() + pause > deadline || signal.aborted) {
          throw new UpstreamFault('UPSTREAM_UNAVAILABLE', wordOf(request), 'gave up trying again');
        }
        await sleep(pause);
      }
    },
    close: () => agent.close(),
  };

  async function once(
    request: WireRequest,
    signal: AbortSignal,
    deadline: number,
  ): Promise<Omit<WireAnswer, 'attempts'>> {
    const base = bases[request.service];
    const ending = new AbortController();
    const end = () => ending.abort(signal.reason);
    let clock: NodeJS.Timeout | undefined;
    const startClock = (ms: number) => {
      clock = setTimeout(() => ending.abort(new errors.BodyTimeoutError('the call took too long')), Math.max(1, ms));
    };
    // A form comes as fast as its sender sends: what the service makes of it is timed from its last byte.
    if (request.body instanceof Readable) request.body.once('end', () => startClock(settings.callTimeoutMs));
    else startClock(deadline - performance.now());
    signal.addEventListener('abort', end, { once: true });
    try {
      const { statusCode, headers, body } = await agent.request({
        origin: base.origin,
        path: base.pathname.replace(/\/$/, '') + request.path,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: ending.signal,
      });
      // A body destroyed without a listener would end the process.
      body.on('error', () => undefined);
      const raw = await collect(body, request);
      const coding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
      const bytes = coding === 'gzip' ? await inflate(raw, { maxOutputLength: request.maxBytes }) : raw;
      if (coding !== 'gzip' && coding !== 'identity') throw new Nonsense(`an encoding of ${coding.slice(0, 20)}`);
      return { status: statusCode, headers, text: decodeUtf8(bytes), bytes: bytes.length };
    } finally {
      clearTimeout(clock);
      signal.removeEventListener('abort', end);
    }
  }
}

class Nonsense extends Error {}

async function collect(body: AsyncIterable<Buffer>, { maxBytes }: WireRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new Nonsense(`a body over ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Nonsense('a body that is not UTF-8');
  }
}

const wordOf = ({ service, line }: WireRequest): UpstreamWord => ({ service, request: line });

function isConnectionLoss(error: unknown): boolean {
  if (error instanceof errors.SocketError || error instanceof errors.ConnectTimeoutError) return true;
  const { code } = error as { code?: string };
  return [
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ECONNABORTED',
  ].includes(code ?? '');
}

function faultOf(request: WireRequest, error: unknown, signal: AbortSignal): unknown {
  const word = wordOf(request);
  const cause = { cause: error };
  // Of a write that was sent and not answered nobody knows whether it was carried out.
  const unsent =
    (error as { code?: string }).code === 'ECONNREFUSED' ||
    error instanceof errors.ConnectTimeoutError ||
    (request.body instanceof Readable && !request.body.readableEnded); // half a form is no request
  if (request.method !== 'GET' && !unsent && !(error instanceof Nonsense))
    return new UpstreamFault('UPSTREAM_RESULT_UNKNOWN', word, 'the answer was lost', cause);
  if (signal.aborted) return new UpstreamFault('UPSTREAM_TIMEOUT', word, 'the operation has ended', cause);
  if (
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    error instanceof errors.ConnectTimeoutError
  ) {
    return new UpstreamFault('UPSTREAM_TIMEOUT', word, 'no answer in time', cause);
  }
  if (isConnectionLoss(error)) return new UpstreamFault('UPSTREAM_UNAVAILABLE', word, 'no connection', cause);
  return new UpstreamFault(
    'UPSTREAM_INVALID_RESPONSE',
    word,
    error instanceof Error ? error.message : 'nonsense',
    cause,
  );
}
