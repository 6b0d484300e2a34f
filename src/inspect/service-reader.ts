/** Reads the service for the doctor, without caches and retries. */
import type { Endpoint, InputOf } from '../api/endpoint.ts';
import type { Config } from '../config/settings.ts';
import { serviceErrors } from '../api/errors.ts';
import { USER_AGENT } from '../package.ts';
import { atomDocuments } from '../atom/media.ts';
import { type TlsSettings, readTlsFiles } from '../config/upstream-tls.ts';
import type { CachingHeaders } from '../upstream/cache/caching-header.ts';
import { type DispatcherSettings, createDispatcher } from '../upstream/http/dispatcher.ts';
import { createApiRequest } from '../api/api-request.ts';
import { ReportedError, decodeResponse, errorCodeIn } from '../upstream/http/response.ts';
import { errorCodeOf } from '../upstream/availability.ts';
import { outageReason } from '../upstream/http/transport-errors.ts';

/** A call that was answered, or why it was not. */
export interface ServiceRead {
  endpoint: Endpoint;
  ms: number;
  /** Undefined without a response. */
  status?: number;
  date?: string | undefined;
  /** By the clock of this machine. */
  receivedAt?: number;
  contentType?: string | undefined;
  caching?: CachingHeaders;
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
  const dispatcherOf = (service: keyof typeof base, maxResponseSize: number) =>
    createDispatcher(base[service].origin, config, readTlsFiles(service, config), { maxResponseSize });
  const dispatchers = {
    catalog: dispatcherOf('catalog', config.maxJsonBytes),
    events: dispatcherOf('events', config.maxAtomBytes),
  };
  const reads: ServiceRead[] = [];

  async function send(endpoint: Endpoint, input: object): Promise<ServiceRead> {
    const request = createApiRequest(endpoint, input);
    const { media } = endpoint;
    const service = endpoint.service as keyof typeof base; // the doctor reads the catalog
    const { origin, pathname } = base[service];
    const begun = performance.now();
    try {
      const { statusCode, headers, body } = await dispatchers[service].request({
        origin,
        path: pathname.replace(/\/$/, '') + request.wirePath,
        method: 'GET', // redirects are not followed: the token is for this address
        headers: {
          accept: media === 'json' ? 'application/json' : 'application/atom+xml',
          'user-agent': USER_AGENT,
          ...(config.accessToken !== undefined && { authorization: `Bearer ${config.accessToken}` }),
        },
        signal: AbortSignal.timeout(config.callTimeoutMs),
      });
      const text = await body.text().catch((error: unknown) => {
        if (statusCode >= 300) return ''; // an error is one, whatever its body
        throw error;
      });
      const ms = performance.now() - begun;
      const caching = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      const { date, 'content-type': contentType } = caching;
      const answered = { endpoint, ms, status: statusCode, date, receivedAt: Date.now(), contentType, caching };
      return { ...answered, ...decoded(request, statusCode, text, config.eventBaseUrl) };
    } catch (error) {
      return { endpoint, ms: 0, problem: problemIn(error) };
    }
  }

  return {
    /** All calls that were made. */
    reads,
    async read<E extends Endpoint>(endpoint: E, input: InputOf<E> & object): Promise<void> {
      reads.push(await send(endpoint, input));
    },
    close: () => Promise.all([dispatchers.catalog.close(), dispatchers.events.close()]),
  };
}

function problemIn(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'no answer in time';
  return errorCodeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE'
    ? 'a response with too many bytes'
    : outageReason(error);
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
