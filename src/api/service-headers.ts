/** Headers that the real service sends with each response, by default of its framework. */
export const serviceHeaders = Object.freeze({
  'cache-control': 'must-revalidate, no-cache, private',
  pragma: 'no-cache',
  expires: 'Sun, 1 Jan 2006 01:00:00 GMT',
  vary: 'Accept-Encoding',
  server: 'nginx',
  'x-ratelimit-limit2': '100',
  'x-ratelimit-remaining2': '99',
});

const YEAR_MS = 365 * 86_400_000;

/** The id that it gives to each visitor who sends none, for a year: eleven characters. */
export const visitorCookie = (visitor: string, now: number): string =>
  `bid=${visitor}; Expires=${new Date(now + YEAR_MS).toUTCString()}; Path=/`;
