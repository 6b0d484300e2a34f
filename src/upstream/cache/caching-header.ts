/** How long a response may be cached, and for whom, by its caching headers (RFC 9111) and by UPSTREAM_CACHE. */
import type { Share } from '../../api/endpoint.ts';
import type { Config } from '../../config/settings.ts';
import { remembering } from '../../lib/remember.ts';
import { httpTime } from '../../lib/text/http-date.ts';

/** Why a response may not be stored. `unsure`: an absence that the service did not report with a code of its own. */
export type Refusal = 'no-store' | 'no-cache' | 'private' | 'vary' | 'unsure';

export interface Cacheability {
  /** Undefined if it may be stored. */
  refusal: Refusal | undefined;
  /** Never served stale, not even while upstream fails. */
  mustRevalidate: boolean;
  /** Seconds of freshness from when upstream generated the response; undefined if upstream does not say. */
  maxAge: number | undefined;
  /** Seconds spent in caches before this one. */
  age: number;
}

export const cachingHeaders = ['age', 'cache-control', 'date', 'expires', 'vary'] as const;
export type CachingHeaders = Partial<Record<(typeof cachingHeaders)[number], string>>;

export const unspecified: Cacheability = Object.freeze({
  refusal: undefined,
  mustRevalidate: false,
  maxAge: undefined,
  age: 0,
});
export const unsure: Cacheability = Object.freeze({ ...unspecified, refusal: 'unsure' });

/** Whose response it is, and whether its headers are obeyed to the letter. */
export interface CachingRules {
  share: Share;
  /** Only the sender of the request gets what is stored of it. */
  isPersonal: boolean;
  mode: Config['upstreamCache'];
  /** The headers of the request that are not the same in each: names and values in turn. The Authorization need not be among them. */
  sent: readonly string[];
}

export function cacheabilityOf(headers: CachingHeaders, rules: CachingRules): Cacheability {
  const { age, vary, expires, date } = headers;
  const said = headers['cache-control'];
  if (said === undefined && expires === undefined && vary === undefined && age === undefined) return unspecified;
  const directives = directivesOf(said);
  // Headers that forbid caching are taken for a default of the service's framework, but those of scope viewer: it has what is a person's.
  const isDefault = rules.mode === 'relaxed' && rules.share !== 'viewer';
  return {
    refusal: refusalOf(directives, vary, isDefault, rules),
    mustRevalidate: !isDefault && revalidating.some((name) => directives.has(name)),
    maxAge: isDefault ? longAge(directives, expires, date) : maxAgeOf(directives, expires, date),
    age: age === undefined ? 0 : Math.min(Number(/^\s*(\d+)\s*(?:,|$)/.exec(age)?.[1] ?? 0), AGE_MAX_SECONDS),
  };
}

/** The words of the headers that forbid caching or limit it, for people; empty if there are none. */
export function forbiddingWords(headers: CachingHeaders, { refusal, age }: Cacheability, isCached: boolean) {
  const directives = directivesOf(headers['cache-control']);
  const words: string[] = forbidding.filter((name) => directives.has(name));
  for (const name of ages) if (secondsIn(directives, name).includes(0)) words.push(`${name}=0`);
  if (headers.expires !== undefined && lifetimeOf(headers.expires, headers.date) === 0)
    words.push('Expires in the past');
  if (refusal === 'vary') words.push('Vary');
  if (!isCached && refusal === undefined && age > 0) words.push('Age');
  return words;
}

const forbidding = ['no-store', 'no-cache', 'private', 'must-revalidate', 'proxy-revalidate'];
/** `s-maxage` implies `proxy-revalidate`. */
const revalidating = ['must-revalidate', 'proxy-revalidate', 's-maxage'];
const ages = ['s-maxage', 'max-age'];
/** The age that an older response counts as having (RFC 9111, 1.2.2). */
const AGE_MAX_SECONDS = 2 ** 31;

function refusalOf(
  directives: Directives,
  vary: string | undefined,
  isDefault: boolean,
  rules: CachingRules,
): Refusal | undefined {
  if (directives.has('no-store')) return 'no-store';
  if (vary !== undefined && varies(vary, rules)) return 'vary';
  if (isDefault) return undefined;
  // Upstream supports no revalidation: what demands it for each use is of none.
  if (directives.has('no-cache')) return 'no-cache';
  return directives.has('private') && !rules.isPersonal ? 'private' : undefined;
}

/** Whether another request of the same scope may get another response. Scope tier has one credential, scope anonymous none. */
function varies(vary: string, { share, sent }: CachingRules): boolean {
  const names = namesIn(vary);
  if (names.includes('*') || (share === 'public' && names.includes('authorization'))) return true;
  for (let at = 0; at < sent.length; at += 2)
    if (sent[at] !== 'authorization' && names.includes(sent[at]!)) return true;
  return false;
}

const namesIn = remembering((header = ''): readonly string[] =>
  header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== ''),
);

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

/** All values in seconds; an invalid one counts as 0. */
const secondsIn = (directives: Directives, name: string): readonly number[] =>
  (directives.get(name) ?? none).map((value) => (/^\d+$/.test(value) ? Number(value) : 0));
const none: readonly string[] = Object.freeze([]);

const leastOf = (seconds: readonly number[]): number | undefined => (seconds.length ? Math.min(...seconds) : undefined);

const maxAgeOf = (directives: Directives, expires: string | undefined, date: string | undefined): number | undefined =>
  leastOf(secondsIn(directives, 's-maxage')) ??
  leastOf(secondsIn(directives, 'max-age')) ??
  (expires === undefined ? undefined : lifetimeOf(expires, date));

/** The max-age where default headers are ignored: a time of 0 counts only without words that forbid caching. */
function longAge(directives: Directives, expires: string | undefined, date: string | undefined): number | undefined {
  for (const name of ages) {
    if (!directives.has(name)) continue;
    const least = leastOf(secondsIn(directives, name).filter((seconds) => seconds > 0));
    if (least !== undefined) return least;
  }
  if (!forbidding.some((name) => directives.has(name)) && ages.some((name) => directives.has(name))) return 0;
  return expires === undefined ? undefined : lifetimeOf(expires, date) || undefined;
}

/** Freshness lifetime in seconds by `Expires`. An invalid date counts as expired. */
function lifetimeOf(expires: string, date: string | undefined): number {
  const start = timeOf(date) ?? Date.now();
  return Math.max(0, Math.round(((timeOf(expires) ?? start) - start) / 1000));
}

/** A service sends one date with all responses of a second, and often the same end. */
const timeOf = remembering(httpTime);
