/** How long the service asks not to be called, in the forms that services, proxies and frameworks write. */
import { httpTime } from '../../lib/text/http-date.ts';
import type { ResponseHeaders } from './response.ts';

/** Seconds from the response on, rounded up; undefined if the service does not say, or nothing that can be read. */
export function retryAfterOf(status: number, headers: ResponseHeaders): number | undefined {
  // The clocks differ, so an absolute time counts from the `Date` of the response.
  const now = httpTime(headers.date) ?? Date.now();
  const isUsedUp = [headers['x-ratelimit-remaining'], headers['x-ratelimit-remaining2']].some(
    (left) => left?.trim() === '0',
  );
  const isLimit = status === 429 || isUsedUp;
  return secondsIn(headers['retry-after'], now) ?? (isLimit ? secondsUntilReset(headers, now) : undefined);
}

/** The first value of `Retry-After`: a number of seconds, or a date. */
function secondsIn(header: string | undefined, now: number): number | undefined {
  const seconds = numberIn(header);
  if (seconds !== undefined) return seconds;
  const at = httpTime(header);
  return at === undefined ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}

/** The number that the text begins with, rounded up: a list may follow, or a unit of seconds. */
function numberIn(header = ''): number | undefined {
  const first = header.split(/[,;]/, 1)[0]!.replaceAll('"', '').trim();
  const [, digits] = /^\+?(\d+(?:\.\d*)?|\.\d+) ?(?:s|secs?|seconds?)?$/i.exec(first) ?? [];
  return digits === undefined ? undefined : Math.ceil(Number(digits));
}

const DAY_SECONDS = 86_400;
/** Above these a number is a time since 1970, in seconds or in ms. */
const [EPOCH_SECONDS, EPOCH_MS] = [1e9, 1e12];

/** Services write the seconds that are left, or a time since 1970. A time that is over, or further away than a day, is none. */
function secondsUntilReset(headers: ResponseHeaders, now: number): number | undefined {
  const value = numberIn(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']);
  if (value === undefined) return undefined;
  const left = value < EPOCH_SECONDS ? value : Math.ceil((value < EPOCH_MS ? value * 1000 : value) / 1000 - now / 1000);
  return left > 0 && left <= DAY_SECONDS ? left : undefined;
}
