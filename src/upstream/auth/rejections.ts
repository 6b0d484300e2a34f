/** Tokens that a service rejected recently. The rejection is repeated from memory, without an upstream call. */
import { LRUCache } from 'lru-cache';
import { type Service, UpstreamRejection, type UpstreamErrorDetails } from '../errors.ts';

/** Short, because a token may become valid at any time. */
const REMEMBERED_MS = 5_000;
const REJECTIONS_MAX = 10_000;

export interface Rejections {
  remember: (credential: string, word: UpstreamErrorDetails) => void;
  forget: (credential: string, service: Service) => void;
  has: (credential: string, service: Service) => boolean;
  /** Throws an UpstreamRejection for this request if the service rejected the token recently. */
  repeat: (credential: string, service: Service, request: string) => void;
}

export function createRejections(): Rejections {
  const table = new LRUCache<string, { word: UpstreamErrorDetails; until: number }>({ max: REJECTIONS_MAX });

  function wordFor(credential: string, service: Service): UpstreamErrorDetails | undefined {
    if (table.size === 0) return undefined;
    const found = table.get(`${service} ${credential}`);
    return found && found.until > performance.now() ? found.word : undefined;
  }

  return {
    remember: (credential, word) =>
      void table.set(`${word.service} ${credential}`, { word, until: performance.now() + REMEMBERED_MS }),
    forget: (credential, service) => void table.delete(`${service} ${credential}`),
    has: (credential, service) => wordFor(credential, service) !== undefined,
    repeat(credential, service, request) {
      const word = wordFor(credential, service);
      if (word) throw new UpstreamRejection({ ...word, request });
    },
  };
}
