/** Tokens that a service rejected recently. The rejection is repeated from memory, without an upstream call. */
import { LRUCache } from 'lru-cache';
import { type Service, type UpstreamErrorDetails, UpstreamRejection } from '../errors.ts';
import { type ApiRequest, requestLine } from '../http/request.ts';

/** Short, because a token may become valid at any time. */
const REMEMBERED_MS = 5_000;
const REJECTIONS_MAX = 10_000;

export interface Rejections {
  remember: (credential: string, details: UpstreamErrorDetails) => void;
  forget: (credential: string, service: Service) => void;
  has: (credential: string, service: Service) => boolean;
  /** Throws an UpstreamRejection for this request if the service rejected the token recently. */
  repeat: (credential: string, request: ApiRequest) => void;
}

export function createRejections(): Rejections {
  const table = new LRUCache<string, { details: UpstreamErrorDetails; until: number }>({ max: REJECTIONS_MAX });

  function find(credential: string, service: Service): UpstreamErrorDetails | undefined {
    const found = table.get(`${service} ${credential}`);
    return found && found.until > performance.now() ? found.details : undefined;
  }

  return {
    remember: (credential, details) =>
      void table.set(`${details.service} ${credential}`, { details, until: performance.now() + REMEMBERED_MS }),
    forget: (credential, service) => void table.delete(`${service} ${credential}`),
    has: (credential, service) => find(credential, service) !== undefined,
    repeat(credential, request) {
      if (table.size === 0) return;
      const details = find(credential, request.endpoint.service);
      if (details) throw new UpstreamRejection({ ...details, request: requestLine(request) });
    },
  };
}
