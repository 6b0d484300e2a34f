/** What upstream allows of an answer, read from its caching headers (RFC 9111). */
export interface Reuse {
  /** Nothing may be kept, not even to stand in. */
  noStore: boolean;
  /** For one person's cache alone. */
  isPrivate: boolean;
  /** Never served past its time, not even while upstream fails. */
  mustRevalidate?: boolean;
  /** Seconds that it is fresh from when upstream made it; undefined where upstream does not say. */
  maxAge: number | undefined;
  /** Seconds that other caches have held it already. */
  age?: number;
}

/** The headers that say so, as they came. */
export interface CachingHeaders {
  age?: string;
  'cache-control'?: string;
  date?: string;
  expires?: string;
  vary?: string;
}

export const unsaid: Reuse = Object.freeze({
  noStore: false,
  isPrivate: false,
  mustRevalidate: false,
  maxAge: undefined,
  age: 0,
});

export function reuseOf(headers: CachingHeaders): Reuse {
  const { age, vary } = headers;
  const said = headers['cache-control'];
  const expires = headers.expires;
  if (said === undefined && expires === undefined && vary === undefined && age === undefined) return unsaid;
  const told = said === undefined ? nothing : directivesOf(said);
  const shared = secondsIn(told, 's-maxage');
  return {
    // What varies by anything is the same for nobody; without a validator, asking again is not keeping.
    noStore: told.has('no-store') || told.has('no-cache') || namesIn(vary).includes('*'),
    isPrivate: told.has('private'),
    // `s-maxage` forbids shared caches to serve it stale.
    mustRevalidate: told.has('must-revalidate') || told.has('proxy-revalidate') || told.has('s-maxage'),
    maxAge: shared ?? secondsIn(told, 'max-age') ?? lifetimeOf(expires, headers.date),
    age: Number(/^\s*(\d{1,9})/.exec(age ?? '')?.[1] ?? 0),
  };
}

type Directives = ReadonlyMap<string, readonly string[]>;
const nothing: Directives = new Map();

/** Each directive with the values that it was given, unquoted. */
function directivesOf(header: string): Directives {
  const found = new Map<string, string[]>();
  for (const [, name, quoted, plain] of header.matchAll(
    /([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s,;"]*)))?/g,
  )) {
    const values = found.get(name!.toLowerCase()) ?? [];
    found.set(name!.toLowerCase(), [...values, quoted ?? plain ?? '']);
  }
  return found;
}

/** The smallest of what was said; what is no number is none. Undefined where nothing was said. */
function secondsIn(directives: Directives, name: string): number | undefined {
  const values = directives.get(name);
  return values && Math.min(...values.map((value) => (/^\d+$/.test(value) ? Number(value) : 0)));
}

/** A date that is none has passed. */
function lifetimeOf(expires: string | undefined, date: string | undefined): number | undefined {
  if (expires === undefined) return undefined;
  const end = Date.parse(expires);
  const start = date === undefined ? NaN : Date.parse(date);
  if (!/[a-z]/i.test(expires) || Number.isNaN(end)) return 0;
  return Math.max(0, Math.round((end - (Number.isNaN(start) ? Date.now() : start)) / 1000));
}

const namesIn = (header: string | undefined): string[] => (header ?? '').split(',').map((name) => name.trim());
