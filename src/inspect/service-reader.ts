/** Reads the service for the doctor, without caches and retries. */
import type { Endpoint, InputOf } from '../api/endpoint.ts';
import type { Config } from '../config/settings.ts';
import { serviceErrors } from '../api/errors.ts';
import { USER_AGENT } from '../package.ts';
import { atomDocuments } from '../atom/media.ts';
import { type TlsSettings, readTlsFiles } from '../config/upstream-tls.ts';
import type { CachingHeaders } from '../upstream/cache/caching-header.ts';
import { type Dispatcher, type DispatcherSettings, createDispatcher } from '../upstream/http/dispatcher.ts';
import { createApiRequest } from '../api/api-request.ts';
import { ReportedError, decodeResponse, errorCodeIn } from '../upstream/http/response.ts';
import { outageReason } from '../upstream/http/transport-errors.ts';

/** A call that was answered, or why it was not. */
export interface ServiceRead {
  endpoint: Endpoint;
  input: object;
  ms: number;
  /** Undefined without a response. */
  status?: number;
  date?: string | undefined;
  /** By the clock of this machine. */
  receivedAt?: number;
  contentType?: string | undefined;
  caching?: CachingHeaders;
  text?: string;
  /** The decoded record or list, of a success. */
  value?: unknown;
  /** The service's own code, of a rejection. */
  code?: number | undefined;
  /** Why there is no response that can be used. */
  problem?: string;
}

export type ServiceReader = ReturnType<typeof createServiceReader>;

type ReaderSettings = { baseUrl: string; eventBaseUrl: string } & DispatcherSettings &
  TlsSettings &
  Pick<Config, 'accessToken' | 'callTimeoutMs' | 'maxJsonBytes' | 'maxAtomBytes'>;

export function createServiceReader(config: ReaderSettings) {
  const base = { catalog: new URL(config.baseUrl), events: new URL(config.eventBaseUrl) };
  const dispatcherOf = (service: keyof typeof base) =>
    createDispatcher(base[service].origin, config, readTlsFiles(service, config));
  const dispatchers = { catalog: dispatcherOf('catalog'), events: dispatcherOf('events') };
  const reads: ServiceRead[] = [];

  async function send(endpoint: Endpoint, input: object): Promise<ServiceRead> {
    const request = createApiRequest(endpoint, input);
    const { media } = endpoint;
    const service = endpoint.service as keyof typeof base; // the doctor reads the catalog
    const { origin, pathname } = base[service];
    const isJson = media === 'json';
    const begun = performance.now();
    const read: ServiceRead = { endpoint, input, ms: 0 };
    try {
      const response = await get(dispatchers[service], {
        origin,
        path: pathname.replace(/\/$/, '') + request.wirePath,
        headers: {
          accept: isJson ? 'application/json' : 'application/atom+xml',
          'user-agent': USER_AGENT,
          ...(config.accessToken !== undefined && { authorization: `Bearer ${config.accessToken}` }),
        },
        timeoutMs: config.callTimeoutMs,
        maxBytes: isJson ? config.maxJsonBytes : config.maxAtomBytes,
      });
      read.ms = performance.now() - begun;
      read.receivedAt = Date.now();
      read.status = response.status;
      read.date = response.headers.date;
      read.contentType = response.headers['content-type'];
      read.caching = response.headers;
      read.text = response.text;
    } catch (error) {
      read.problem = problemOf(error);
      return read;
    }
    return { ...read, ...decoded(request, read.status, read.text, config.eventBaseUrl) };
  }

  return {
    /** All calls that were made. */
    reads,
    async read<E extends Endpoint>(endpoint: E, input: InputOf<E> & object): Promise<ServiceRead> {
      const at = reads.length;
      reads.push({ endpoint, input, ms: 0 });
      return (reads[at] = await send(endpoint, input));
    },
    close: () => Promise.all([dispatchers.catalog.close(), dispatchers.events.close()]),
  };
}

const LATE = 'no answer in time';
class TooLarge extends Error {}

interface GetOptions {
  origin: string;
  path: string;
  headers: Record<string, string>;
  timeoutMs: number;
  maxBytes: number;
}

/** Redirects are not followed: the token is for this address. */
function get(dispatcher: Dispatcher, { timeoutMs, maxBytes, ...request }: GetOptions) {
  return new Promise<{ status: number; headers: Record<string, string>; text: string }>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [status, size] = [0, 0];
    let headers: Record<string, string> = {};
    let abort: ((reason?: Error) => void) | undefined;
    const timer = setTimeout(() => (abort ?? reject)(new Error(LATE)), timeoutMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    dispatcher.dispatch(
      { ...request, method: 'GET' },
      {
        onConnect: (stop) => void (abort = stop),
        onHeaders(code, raw) {
          status = code;
          headers = namedHeaders(raw);
          return true;
        },
        onData(chunk) {
          chunks.push(chunk);
          if ((size += chunk.length) > maxBytes) abort?.(new TooLarge(`a response of more than ${maxBytes} bytes`));
          return true;
        },
        onComplete: () => end(() => resolve({ status, headers, text: Buffer.concat(chunks).toString() })),
        // An error is one, whatever its body.
        onError: (error) => end(() => (status >= 300 ? resolve({ status, headers, text: '' }) : reject(error))),
      },
    );
  });
}

function namedHeaders(raw: readonly Buffer[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [raw[at]!.toString('latin1').toLowerCase(), raw[at + 1]!.toString('latin1')];
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** The messages of others may repeat what they were sent. */
function problemOf(error: unknown): string {
  const isOwn = error instanceof TooLarge || (error as Error).message === LATE;
  return isOwn ? (error as Error).message : outageReason(error);
}

function decoded(
  request: ReturnType<typeof createApiRequest>,
  status: number,
  text: string,
  eventBaseUrl: string,
): Pick<ServiceRead, 'value' | 'code' | 'problem'> {
  if (status < 200 || status >= 300) return refused(status, text);
  try {
    const value = decodeResponse(atomDocuments, request, text, status, eventBaseUrl);
    return value instanceof ReportedError ? { code: value.code } : { value };
  } catch {
    return { problem: isPage(text) ? 'a web page' : 'not what was requested' };
  }
}

const isPage = (text: string): boolean => /^\s*(?:<!doctype html|<html)/i.test(text);

/** A redirect, a page of a firewall, or a 404 without a code of the table is no answer of the service. */
function refused(status: number, text: string): Pick<ServiceRead, 'code' | 'problem'> {
  if (status < 400) return { problem: 'a redirect, which is not followed' };
  const code = errorCodeIn(text, serviceErrors);
  if (code !== undefined || status >= 500) return { code };
  if (isPage(text)) return { problem: 'a web page' };
  return status === 404 ? { problem: 'no error of the service' } : { code };
}
