/** How long a response may be cached, and for whom, by its caching headers (RFC 9111). */
import { remembering } from '../../lib/remember.ts';

export interface Cacheability {
  /** Must not be stored, not even to serve stale on errors. */
  noStore: boolean;
  /** It says `no-store`: nobody may store it, not even to revalidate it. */
  forbidsStoring?: boolean;
  /** Only for private caches. */
  isPrivate: boolean;
  /** Never served stale, not even while upstream fails. */
  mustRevalidate?: boolean;
  /** Seconds of freshness from when upstream generated the response; undefined if upstream does not say. */
  maxAge: number | undefined;
  /** Seconds for which it may be served after that while it is refreshed; undefined if upstream does not say. */
  staleWhileRevalidate?: number | undefined;
  /** Seconds spent in caches before this one. */
  age?: number;
}

export const cachingHeaders = ['age', 'cache-control', 'date', 'expires', 'vary'] as const;
export type CachingHeaders = Partial<Record<(typeof cachingHeaders)[number], string>>;

export const unspecified: Cacheability = Object.freeze({
  noStore: false,
  isPrivate: false,
  mustRevalidate: false,
  maxAge: undefined,
  staleWhileRevalidate: undefined,
  age: 0,
});

export function cacheabilityOf(headers: CachingHeaders): Cacheability {
  const { age, vary } = headers;
  const said = headers['cache-control'];
  const expires = headers.expires;
  if (said === undefined && expires === undefined && vary === undefined && age === undefined) return unspecified;
  const directives = directivesOf(said);
  const shared = secondsIn(directives, 's-maxage');
  return {
    // `Vary: *` never matches another request. `no-cache` demands revalidation, which upstream does not support.
    noStore: directives.has('no-store') || directives.has('no-cache') || namesIn(vary).includes('*'),
    ...(directives.has('no-store') && { forbidsStoring: true }),
    isPrivate: directives.has('private'),
    // `s-maxage` implies `proxy-revalidate`.
    mustRevalidate:
      directives.has('must-revalidate') || directives.has('proxy-revalidate') || directives.has('s-maxage'),
    maxAge: shared ?? secondsIn(directives, 'max-age') ?? freshnessLifetimeOf(expires, headers.date),
    staleWhileRevalidate: secondsIn(directives, 'stale-while-revalidate'),
    age: Number(/^\s*(\d{1,9})/.exec(age ?? '')?.[1] ?? 0),
  };
}

/** All values of each directive, unquoted. */
type Directives = ReadonlyMap<string, readonly string[]>;

/** A service sends the same header with nearly all its responses. */
const directivesOf = remembering((header = ''): Directives => {
  const found = new Map<string, string[]>();
  for (const [, name, quoted, plain] of header.matchAll(
    /([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s,;"]*)))?/g,
  )) {
    const values = found.get(name!.toLowerCase()) ?? [];
    found.set(name!.toLowerCase(), [...values, quoted ?? plain ?? '']);
  }
  return found;
});

/** The smallest value in seconds; an invalid one counts as 0. Undefined if the directive is absent. */
function secondsIn(directives: Directives, name: string): number | undefined {
  const values = directives.get(name);
  return values && Math.min(...values.map((value) => (/^\d+$/.test(value) ? Number(value) : 0)));
}

/** Freshness lifetime in seconds by `Expires`. An invalid date counts as expired. */
function freshnessLifetimeOf(expires: string | undefined, date: string | undefined): number | undefined {
  if (expires === undefined) return undefined;
  const end = Date.parse(expires);
  const start = date === undefined ? NaN : Date.parse(date);
  if (!/[a-z]/i.test(expires) || Number.isNaN(end)) return 0;
  return Math.max(0, Math.round((end - (Number.isNaN(start) ? Date.now() : start)) / 1000));
}

const namesIn = (header: string | undefined): string[] => (header ?? '').split(',').map((name) => name.trim());
