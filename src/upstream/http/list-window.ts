/** The items of the requested window in the response of a list. */
import { type ApiRequest, type ListWindow, windowFor } from '../../api/api-request.ts';

/** A number that counts or numbers items; NaN for anything else. */
export const naturalIn = (value: unknown): number =>
  (typeof value === 'string' || typeof value === 'number') && /^\d+$/.test(`${value}`) ? Number(value) : NaN;

/**
 * The response, its list cut to what was requested and one item more, which shows that there are more: endpoints exist that ignore the position, the
 * number, or both, or send the last page instead of one beyond the end.
 */
export function cutToWindow(request: ApiRequest, response: Record<string, unknown>): object {
  const window = windowFor(request);
  if (!window) return response;
  const { list, paging } = request.endpoint;
  const { start, count } = window;
  const items = response[list!] as readonly unknown[];
  const skipped = start - beginningOf(response, items.length, window, paging === 'start' ? 0 : 1);
  // A service that sends whole pages goes on after this one.
  if (skipped > 0 && items.length === count && skipped < count) response.next_start ??= start - skipped + count;
  response[list!] = items.slice(skipped, skipped + count + 1);
  return response;
}

/**
 * The position at which a response begins: the requested one, unless it says that it is another one. A page of at most the requested size is
 * believed to be the requested one too if another statement contradicts the position: a total by which there is such a page, the position of the
 * next page, or fewer items than requested. What cannot be known is whether such a page is the requested one if nothing contradicts anything.
 */
function beginningOf(
  { total, totalResults, start: position, startIndex, next_start }: Record<string, unknown>,
  received: number,
  { start, count }: ListWindow,
  firstPosition: number,
): number {
  const all = naturalIn(total ?? totalResults);
  const written = naturalIn(position ?? startIndex);
  if (received > count && received >= all) return 0;
  if (Number.isNaN(written)) {
    const isWhole = Number.isNaN(all) ? received > count + 1 : received === all || (received < all && all <= start);
    return isWhole ? 0 : start;
  }
  const stated = Math.max(0, written - firstPosition);
  // Feeds exist that number their items from 0.
  if (stated >= start || written === start) return start;
  if (received > count || stated + received > start) return stated;
  const exists = Number.isNaN(all) ? received < count && stated === 0 : all > start;
  return exists || naturalIn(next_start) > start ? start : stated;
}
