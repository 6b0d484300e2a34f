/** The shared connection: pools, timeouts, sizes, inflating, retries, and reads in flight shared by all who ask the same. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import { Agent, type Dispatcher, errors } from 'undici';
import type { Config } from '../config.ts';
import { type Breaker, type BreakerSettings, type Passage, createBreaker } from './breaker.ts';
import { dispatch } from './dispatch.ts';
import { type Gate, type GateSettings, createGate } from './gate.ts';
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
  /** Asked before each attempt after the first; false: there is no more. */
  payAgain?: () => Promise<boolean>;
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
  /** Throws UpstreamFault where the service is known to be down: asked before anything is spent on a call. */
  refuseDown: (request: Pick<WireRequest, 'service' | 'line'>) => void;
  state: () => Record<Service, ServiceState>;
  close: () => Promise<void>;
}

export interface ServiceState {
  isOpen: boolean;
  running: number;
  waiting: number;
}

export type TransportSettings = Pick<
  Config,
  'connectTimeoutMs' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'callTimeoutMs' | 'readAttempts' | 'maxHeaderBytes'
> &
  BreakerSettings &
  GateSettings & { baseUrl: string; eventBaseUrl: string };

const inflate = promisify(gunzip);
const gatewayFailures = [502, 503, 504];

export function createTransport(settings: TransportSettings, dispatcher?: Dispatcher): Transport {
  const agent =
    dispatcher ??
    new Agent({
      connections: settings.maxBusyConnections, // the gate lets fewer through while that is enough
      connect: { timeout: settings.connectTimeoutMs },
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: settings.bodyTimeoutMs,
      maxHeaderSize: settings.maxHeaderBytes,
    });
  // One dead service must not hold up the other.
  const way = (address: string) => ({
    base: new URL(address),
    breaker: createBreaker(settings),
    gate: createGate(settings),
  });
  const ways: Record<Service, Way> = { catalog: way(settings.baseUrl), event: way(settings.eventBaseUrl) };

  return {
    async send(request, signal) {
      const ending = endingOf(request, signal);
      const attempts = request.method === 'GET' ? settings.readAttempts : 1;
      try {
        for (let attempt = 1; ; attempt++) {
          const { answer, fault } = await once(request, ways[request.service], ending.signal, signal);
          const isLast = attempt >= attempts || (fault ? !fault.mayPass : !gatewayFailures.includes(answer.status));
          if (!isLast && (await mayRepeat(request, attempt, ending.signal))) continue;
          if (fault) throw fault.error;
          return { ...answer, attempts: attempt };
        }
      } finally {
        ending.clear();
        // A form that was not sent, or not to its end, lets go of its files.
        if (request.body instanceof Readable) request.body.destroy();
      }
    },
    refuseDown({ service, line }) {
      if (ways[service].breaker.isRefusing()) throw downFault({ service, line });
    },
    state: () => ({ catalog: stateOf(ways.catalog), event: stateOf(ways.event) }),
    close: () => agent.close(),
  };

  /** Fires when the caller is gone or the call has taken its time. A drip does not reset it. */
  function endingOf({ body }: WireRequest, signal: AbortSignal) {
    const ending = new AbortController();
    const end = () => ending.abort(signal.reason);
    let clock: NodeJS.Timeout | undefined;
    const startClock = () => {
      clock = setTimeout(
        () => ending.abort(new errors.BodyTimeoutError('the call took too long')),
        settings.callTimeoutMs,
      );
    };
    // A form comes as fast as its sender sends: what the service makes of it is timed from its last byte.
    if (body instanceof Readable) body.once('end', startClock);
    else startClock();
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    const clear = () => {
      clearTimeout(clock);
      if (body instanceof Readable) body.off('end', startClock);
      signal.removeEventListener('abort', end);
    };
    return { signal: ending.signal, clear };
  }

  /** One attempt, its failure told and not thrown. */
  async function once(
    request: WireRequest,
    { base, breaker, gate }: Way,
    ending: AbortSignal,
    signal: AbortSignal,
  ): Promise<Attempt> {
    let leave: (() => void) | undefined;
    let passage: Passage | undefined;
    let isSent = false;
    try {
      if (breaker.isRefusing()) return { fault: { error: downFault(request), mayPass: false } };
      leave = await gate.enter(ending);
      passage = breaker.pass();
      if (!passage) return { fault: { error: downFault(request), mayPass: false } };
      ending.throwIfAborted();
      isSent = true;
      const options = {
        origin: base.origin,
        path: base.pathname.replace(/\/$/, '') + request.path,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
      };
      const { statusCode, headers, body } = await dispatch(agent, options, ending, (bytes) =>
        bytes > request.maxBytes ? new Nonsense(`a body over ${request.maxBytes} bytes`) : undefined,
      );
      const text = await textOf(body, String(headers['content-encoding'] ?? 'identity').toLowerCase(), request);
      passage.answered();
      return { answer: { status: statusCode, headers, ...text } };
    } catch (error) {
      if (passage) settle(passage, error, signal.aborted);
      return { fault: { error: faultOf(request, error, isSent, signal), mayPass: isConnectionLoss(error) } };
    } finally {
      leave?.();
    }
  }
}

interface Way {
  base: URL;
  breaker: Breaker;
  gate: Gate;
}
type Attempt =
  | { answer: Omit<WireAnswer, 'attempts'>; fault?: undefined }
  | { answer?: undefined; fault: { error: unknown; mayPass: boolean } };

const stateOf = ({ breaker, gate }: Way): ServiceState => ({
  isOpen: breaker.isOpen(),
  running: gate.running(),
  waiting: gate.waiting(),
});

const downFault = (request: Pick<WireRequest, 'service' | 'line'>) =>
  new UpstreamFault('UPSTREAM_UNAVAILABLE', wordOf(request), 'not asked: it was down a moment ago');

function settle(passage: Passage, error: unknown, isOver: boolean): void {
  if (isOver) passage.left();
  else if (isUnreachable(error) || isTimeout(error)) passage.failed();
  else passage.answered(); // nonsense is an answer too
}

/** Waits a while; false where there is no time or no budget left for another attempt. */
async function mayRepeat({ payAgain }: WireRequest, attempt: number, ending: AbortSignal): Promise<boolean> {
  try {
    await sleep(Math.random() * 60 * 2 ** attempt, undefined, { signal: ending });
  } catch {
    return false;
  }
  return (await payAgain?.()) !== false;
}

/** An answer that came, and cannot be read. */
class Nonsense extends Error {}

async function textOf(raw: Buffer, coding: string, { maxBytes }: WireRequest) {
  if (coding !== 'gzip' && coding !== 'identity') throw new Nonsense(`an encoding of ${coding.slice(0, 20)}`);
  const bytes = coding === 'gzip' && raw.length > 0 ? await inflated(raw, maxBytes) : raw;
  return { text: decodeUtf8(bytes), bytes: bytes.length };
}

async function inflated(raw: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await inflate(raw, { maxOutputLength: maxBytes });
  } catch (error) {
    throw new Nonsense('gzip that is broken or too large', { cause: error });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Nonsense('a body that is not UTF-8');
  }
}

const wordOf = ({ service, line }: Pick<WireRequest, 'service' | 'line'>): UpstreamWord => ({ service, request: line });

const lossCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNABORTED',
];
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Another attempt may find a connection that holds. */
const isConnectionLoss = (error: unknown): boolean =>
  error instanceof errors.SocketError ||
  error instanceof errors.ConnectTimeoutError ||
  lossCodes.includes(codeOf(error));

/** Beside lost connections, those that cannot be made: no route, a certificate that does not hold. */
const isUnreachable = (error: unknown): boolean =>
  isConnectionLoss(error) || /^E(?!RR_)[A-Z]+$|^ERR_(TLS|SSL)|CERT|SIGNATURE/.test(codeOf(error));

const isTimeout = (error: unknown): boolean =>
  error instanceof errors.HeadersTimeoutError ||
  error instanceof errors.BodyTimeoutError ||
  error instanceof errors.ConnectTimeoutError;

function faultOf(request: WireRequest, error: unknown, isSent: boolean, signal: AbortSignal): UpstreamFault {
  const word = wordOf(request);
  const cause = { cause: error };
  // Of a write that was sent and not answered nobody knows whether it was carried out.
  const isKnown =
    !isSent ||
    codeOf(error) === 'ECONNREFUSED' ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof Nonsense ||
    (request.body instanceof Readable && !request.body.readableEnded); // half a form is no request
  if (request.method !== 'GET' && !isKnown)
    return new UpstreamFault('UPSTREAM_RESULT_UNKNOWN', word, 'the answer was lost', cause);
  if (signal.aborted) return new UpstreamFault('UPSTREAM_TIMEOUT', word, 'the operation has ended', cause);
  if (isTimeout(error)) return new UpstreamFault('UPSTREAM_TIMEOUT', word, 'no answer in time', cause);
  if (isUnreachable(error)) return new UpstreamFault('UPSTREAM_UNAVAILABLE', word, 'no connection', cause);
  const reason = error instanceof Error ? error.message : 'nonsense';
  return new UpstreamFault('UPSTREAM_INVALID_RESPONSE', word, reason, cause);
}
