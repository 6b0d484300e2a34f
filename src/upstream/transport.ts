/** The shared connection: pools, timeouts, sizes, inflating, retries, and reads in flight shared by all who ask the same. */
import { isAscii, isUtf8, transcode } from 'node:buffer';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Dispatcher, Pool, errors } from 'undici';
import type { Config } from '../config.ts';
import { type Breaker, type BreakerSettings, type Passage, createBreaker } from './breaker.ts';
import { type RawAnswer, type RawHeaders, dispatch } from './dispatch.ts';
import { type Gate, type GateSettings, createGate } from './gate.ts';
import { type Lifetime, createLifetime, end, offEnd, onEnd } from './lifetime.ts';
import { type OnOutage, reasonOf } from './outage.ts';
import { type Service, UpstreamFault, type UpstreamWord } from './refusal.ts';

/** One request as it goes on the wire. */
export interface WireRequest {
  service: Service;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, to be put behind the service's base. */
  path: string;
  headers: Record<string, string>;
  body?: string | Readable | undefined;
  maxBytes: number;
  /** The request line a client may see. */
  line: string;
  /** Asked before each attempt after the first; false: there is no more. */
  payAgain?: (() => Promise<boolean>) | undefined;
}

export interface WireAnswer {
  status: number;
  headers: RawHeaders;
  text: string;
  /** Of the body, inflated. */
  bytes: number;
  attempts: number;
}

export interface Transport {
  /** Sends it; a GET is tried again when the connection is lost or a gateway fails. Rejects with UpstreamFault. */
  send: (request: WireRequest, asker: Lifetime) => Promise<WireAnswer>;
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

export function createTransport(settings: TransportSettings, dispatcher?: Dispatcher, onOutage?: OnOutage): Transport {
  // One dead service must not hold up the other.
  const way = (service: Service, address: string): Way => {
    const base = new URL(address);
    return {
      origin: base.origin,
      path: base.pathname.replace(/\/$/, ''),
      pool:
        dispatcher ??
        new Pool(base.origin, {
          connections: settings.maxBusyConnections, // the gate lets fewer through while that is enough
          connect: { timeout: settings.connectTimeoutMs },
          headersTimeout: settings.headersTimeoutMs,
          bodyTimeout: settings.bodyTimeoutMs,
          maxHeaderSize: settings.maxHeaderBytes,
        }),
      breaker: createBreaker(settings, (reason) => onOutage?.(service, reason)),
      gate: createGate(settings),
    };
  };
  const ways: Record<Service, Way> = {
    catalog: way('catalog', settings.baseUrl),
    event: way('event', settings.eventBaseUrl),
  };

  return {
    async send(request, asker) {
      const attempts = request.method === 'GET' ? settings.readAttempts : 1;
      const { lifetime, clear } = lifetimeOf(request, asker);
      try {
        for (let attempt = 1; ; attempt++) {
          const { answer, fault } = await once(request, ways[request.service], lifetime, asker);
          const isLast = attempt >= attempts || (fault ? !fault.mayPass : !gatewayFailures.includes(answer.status));
          if (!isLast && (await mayRepeat(request, attempt, lifetime))) continue;
          if (fault) throw fault.error;
          answer.attempts = attempt;
          return answer;
        }
      } finally {
        clear();
        // A form that was not sent, or not to its end, lets go of its files.
        if (request.body instanceof Readable) request.body.destroy();
      }
    },
    refuseDown({ service, line }) {
      if (ways[service].breaker.isRefusing()) throw downFault({ service, line });
    },
    state: () => ({ catalog: stateOf(ways.catalog), event: stateOf(ways.event) }),
    close: async () => {
      await Promise.all([...new Set([ways.catalog.pool, ways.event.pool])].map((pool) => pool.close()));
    },
  };

  /** Ends when the asker is gone or the call has taken its time. A drip does not reset it. */
  function lifetimeOf({ body }: WireRequest, asker: Lifetime) {
    const lifetime = createLifetime();
    const leave = (reason: Error) => end(lifetime, reason);
    let clock: NodeJS.Timeout | undefined;
    const startClock = () => {
      clock = setTimeout(overdue, settings.callTimeoutMs, lifetime);
    };
    // A form comes as fast as its sender sends: what the service makes of it is timed from its last byte.
    if (body instanceof Readable) body.once('end', startClock);
    else startClock();
    onEnd(asker, leave);
    const clear = () => {
      clearTimeout(clock);
      if (body instanceof Readable) body.off('end', startClock);
      offEnd(asker, leave);
    };
    return { lifetime, clear };
  }
}

const overdue = (lifetime: Lifetime): void => end(lifetime, new errors.BodyTimeoutError('the call took too long'));

/** One attempt, its failure told and not thrown. */
function once(request: WireRequest, way: Way, lifetime: Lifetime, asker: Lifetime): Promise<Attempt> {
  if (way.breaker.isRefusing()) return Promise.resolve(isDown(request));
  const waiting = way.gate.enter(lifetime);
  if (!waiting) return passed(request, way, lifetime, asker);
  return waiting.then(
    () => passed(request, way, lifetime, asker),
    (error: unknown) => ({ fault: { error: faultOf(request, error, false, asker), mayPass: false } }),
  );
}

/** The attempt of a call that is in: it leaves again. */
function passed(
  request: WireRequest,
  { origin, path, pool, breaker, gate }: Way,
  lifetime: Lifetime,
  asker: Lifetime,
): Promise<Attempt> {
  const passage = breaker.pass();
  if (!passage) {
    gate.leave();
    return Promise.resolve(isDown(request));
  }
  const failed = (error: unknown, isSent: boolean): Attempt => {
    settle(passage, error, asker.ended !== undefined);
    gate.leave();
    return { fault: { error: faultOf(request, error, isSent, asker), mayPass: isConnectionLoss(error) } };
  };
  if (lifetime.ended) return Promise.resolve(failed(lifetime.ended, false));
  const { method, headers, body = null, maxBytes } = request;
  const options = { origin, path: path + request.path, method, headers, body };
  return dispatch(pool, options, lifetime, (bytes) =>
    bytes > maxBytes ? new Nonsense(`a body over ${maxBytes} bytes`) : undefined,
  )
    .then((raw): Attempt | Promise<Attempt> => {
      const came = (bytes: Buffer): Attempt => {
        const { status, headers } = raw;
        const answer: WireAnswer = { status, headers, text: decodeUtf8(bytes), bytes: bytes.length, attempts: 1 };
        passage.answered();
        gate.leave();
        return { answer };
      };
      const bytes = inflated(raw, maxBytes);
      return bytes instanceof Promise ? bytes.then(came) : came(bytes);
    })
    .catch((error: unknown) => failed(error, true));
}

interface Way {
  origin: string;
  /** Of its base address, without a slash at the end. */
  path: string;
  pool: Dispatcher;
  breaker: Breaker;
  gate: Gate;
}
type Attempt =
  { answer: WireAnswer; fault?: undefined } | { answer?: undefined; fault: { error: unknown; mayPass: boolean } };

const stateOf = ({ breaker, gate }: Way): ServiceState => ({
  isOpen: breaker.isOpen(),
  running: gate.running(),
  waiting: gate.waiting(),
});

const downFault = (request: Pick<WireRequest, 'service' | 'line'>) =>
  new UpstreamFault('UPSTREAM_UNAVAILABLE', wordOf(request), 'not asked: it was down a moment ago');

const isDown = (request: WireRequest): Attempt => ({ fault: { error: downFault(request), mayPass: false } });

function settle(passage: Passage, error: unknown, isOver: boolean): void {
  if (isOver) passage.left();
  else if (isUnreachable(error) || isTimeout(error)) passage.failed(reasonOf(error));
  else passage.answered(); // nonsense is an answer too
}

/** Waits a while; false where there is no time or no budget left for another attempt. */
async function mayRepeat({ payAgain }: WireRequest, attempt: number, lifetime: Lifetime): Promise<boolean> {
  await sleep(Math.random() * 60 * 2 ** attempt);
  return !lifetime.ended && (await payAgain?.()) !== false;
}

/** An answer that came, and cannot be read. */
class Nonsense extends Error {}

/** The body without its layer of gzip. */
function inflated({ body, headers }: RawAnswer, maxBytes: number): Buffer | Promise<Buffer> {
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (coding === 'identity') return body;
  if (coding !== 'gzip') throw new Nonsense(`an encoding of ${coding.slice(0, 20)}`);
  if (body.length === 0) return body;
  return inflate(body, { maxOutputLength: maxBytes }).catch((error: unknown) => {
    throw new Nonsense('gzip that is broken or too large', { cause: error });
  });
}

/** Up to here Node's own decoder is the quickest. */
const SHORT_TEXT = 256;

/** A text that is not ASCII decodes ten times as fast through UTF-16 as by Node's own decoder. */
function decodeUtf8(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) throw new Nonsense('a body that is not UTF-8');
  const text = bytes.length > SHORT_TEXT ? transcode(bytes, 'utf8', 'utf16le').toString('utf16le') : bytes.toString();
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
const BYTE_ORDER_MARK = 0xfeff;

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

function faultOf(request: WireRequest, error: unknown, isSent: boolean, asker: Lifetime): UpstreamFault {
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
  if (asker.ended) return new UpstreamFault('UPSTREAM_TIMEOUT', word, 'the operation has ended', cause);
  if (isTimeout(error)) return new UpstreamFault('UPSTREAM_TIMEOUT', word, 'no answer in time', cause);
  if (isUnreachable(error)) return new UpstreamFault('UPSTREAM_UNAVAILABLE', word, 'no connection', cause);
  const reason = error instanceof Error ? error.message : 'nonsense';
  return new UpstreamFault('UPSTREAM_INVALID_RESPONSE', word, reason, cause);
}
