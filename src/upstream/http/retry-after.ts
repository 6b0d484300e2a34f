/** How long the service asks not to be called, in the forms that services, proxies and frameworks write. */
import { httpTime } from '../../lib/text/http-date.ts';
import type { ResponseHeaders } from './response.ts';

/** Seconds from the response on, rounded up, by the first value of `Retry-After`; undefined if there is none that can be read. */
export function retryAfterOf({ 'retry-after': header, date }: ResponseHeaders): number | undefined {
  const seconds = numberIn(header);
  if (seconds !== undefined) return seconds;
  const at = httpTime(header);
  // The clocks differ, so an absolute time counts from the `Date` of the response.
  return at === undefined ? undefined : Math.max(0, Math.ceil((at - (httpTime(date) ?? Date.now())) / 1000));
}

/** The number that the text begins with, rounded up: a list may follow, or a unit of seconds. */
function numberIn(header = ''): number | undefined {
  const first = header.split(/[,;]/, 1)[0]!.replaceAll('"', '').trim();
  const [, digits] = /^\+?(\d+(?:\.\d*)?|\.\d+) ?(?:s|secs?|seconds?)?$/i.exec(first) ?? [];
  return digits === undefined ? undefined : Math.ceil(Number(digits));
}
