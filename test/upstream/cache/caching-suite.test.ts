/**
 * What upstream's caching headers mean, by the public suite of cases for HTTP caches: https://github.com/http-tests/cache-tests, BSD 3-Clause,
 * Copyright (c) 2018 Mark Nottingham. Only its facts are here: the names of its cases, the headers, and what they allow.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { cacheabilityOf } from '../../../src/upstream/cache/caching-header.ts';
import { timesOf } from '../../../src/upstream/cache/lifetime.ts';
import { headersOf } from '../../../src/upstream/http/response.ts';

const NOON = Date.parse('Sun, 06 Nov 2033 12:00:00 GMT');
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'], now: NOON }));
afterEach(() => void vi.useRealTimers());

/** After so many seconds: used without a call; used while it is refreshed; used only while upstream fails; never used. */
type Use = 'fresh' | 'refreshed' | 'outage' | 'never';

/** Name, headers (`@60` is the date in 60 seconds), use after 3 seconds. `check`: the suite only asks; what is here is decided here. */
const cases: readonly [name: string, headers: readonly string[], use: Use][] = [
  // Cache-Control: times.
  ['freshness-max-age', ['Cache-Control: max-age=3600'], 'fresh'],
  ['freshness-max-age-stale', ['Cache-Control: max-age=2', 'Date: @0'], 'outage'],
  ['freshness-max-age-0', ['Cache-Control: max-age=0'], 'outage'],
  ['freshness-max-age-max-minus-1', ['Cache-Control: max-age=2147483647'], 'fresh'],
  ['freshness-max-age-max', ['Cache-Control: max-age=2147483648'], 'fresh'],
  ['freshness-max-age-max-plus-1', ['Cache-Control: max-age=2147483649'], 'fresh'],
  ['freshness-max-age-max-plus', ['Cache-Control: max-age=99999999999'], 'fresh'],
  ['freshness-max-age-age', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 7200'], 'outage'],
  ['freshness-max-age-expires', ['Cache-Control: max-age=3600', 'Expires: @-7200', 'Date: @0'], 'fresh'],
  ['freshness-max-age-expires-invalid', ['Cache-Control: max-age=3600', 'Expires: 0', 'Date: @0'], 'fresh'],
  ['freshness-max-age-0-expires', ['Expires: @3600', 'Cache-Control: max-age=0', 'Date: @0'], 'outage'],
  ['freshness-max-age-extension', ['Cache-Control: foobar, max-age=3600'], 'fresh'],
  ['freshness-max-age-case-insenstive', ['Cache-Control: MaX-aGe=3600'], 'fresh'],
  ['freshness-max-age-negative', ['Cache-Control: max-age=-3600'], 'outage'],
  ['freshness-s-maxage-shared', ['Cache-Control: s-maxage=3600'], 'fresh'],
  ['freshness-max-age-s-maxage-shared-longer', ['Cache-Control: max-age=3600, s-maxage=1'], 'never'],
  ['freshness-max-age-s-maxage-shared-longer-reversed', ['Cache-Control: s-maxage=1, max-age=3600'], 'never'],
  [
    'freshness-max-age-s-maxage-shared-longer-multiple',
    ['Cache-Control: max-age=3600', 'Cache-Control: s-maxage=1'],
    'never',
  ],
  ['freshness-max-age-s-maxage-shared-shorter', ['Cache-Control: max-age=1, s-maxage=3600'], 'fresh'],
  [
    'freshness-max-age-s-maxage-shared-shorter-expires',
    ['Expires: @-10', 'Cache-Control: max-age=0, s-maxage=3600'],
    'fresh',
  ],
  ['freshness-max-age-date (check)', ['Date: @-7200', 'Cache-Control: max-age=3600'], 'fresh'],
  // Cache-Control: syntax.
  ['freshness-max-age-two-fresh-stale-sameline (check)', ['Cache-Control: max-age=1800, max-age=1'], 'outage'],
  [
    'freshness-max-age-two-fresh-stale-sepline (check)',
    ['Cache-Control: max-age=1800', 'Cache-Control: max-age=1'],
    'outage',
  ],
  ['freshness-max-age-two-stale-fresh-sameline (check)', ['Cache-Control: max-age=1, max-age=1800'], 'outage'],
  [
    'freshness-max-age-two-stale-fresh-sepline (check)',
    ['Cache-Control: max-age=1', 'Cache-Control: max-age=1800'],
    'outage',
  ],
  ['freshness-max-age-quoted (check)', ['Cache-Control: max-age="3600"'], 'fresh'],
  ['freshness-max-age-ignore-quoted', ['Cache-Control: extension="max-age=3600", max-age=1'], 'outage'],
  ['freshness-max-age-ignore-quoted-rev', ['Cache-Control: max-age=1, extension="max-age=3600"'], 'outage'],
  ['freshness-max-age-space-before-equals (check)', ['Cache-Control: max-age =3600'], 'fresh'],
  ['freshness-max-age-space-after-equals (check)', ['Cache-Control: max-age= 3600'], 'fresh'],
  ['freshness-max-age-leading-zero', ['Cache-Control: max-age=003600'], 'fresh'],
  ['freshness-max-age-single-quoted', ["Cache-Control: max-age='3600'"], 'outage'],
  ['freshness-max-age-decimal-zero (check)', ['Cache-Control: max-age=3600.0'], 'outage'],
  ['freshness-max-age-decimal-five (check)', ['Cache-Control: max-age=3600.5'], 'outage'],
  ['freshness-max-age-a100 (check)', ['Cache-Control: max-age=a3600'], 'outage'],
  ['freshness-max-age-100a (check)', ['Cache-Control: max-age=3600a'], 'outage'],
  // Cache-Control: what else it allows or forbids.
  ['cc-resp-private-shared', ['Cache-Control: private, max-age=3600'], 'never'],
  ['cc-resp-no-store', ['Cache-Control: no-store'], 'never'],
  ['cc-resp-no-store-case-insensitive', ['Cache-Control: No-StOrE'], 'never'],
  ['cc-resp-no-store-fresh', ['Cache-Control: max-age=10000, no-store', 'Expires: @10000', 'Date: @0'], 'never'],
  ['cc-resp-no-cache', ['Cache-Control: max-age=10000, no-cache', 'Expires: @10000', 'Date: @0'], 'never'],
  [
    'cc-resp-no-cache-case-insensitive',
    ['Cache-Control: max-age=10000, No-CaChE', 'Expires: @10000', 'Date: @0'],
    'never',
  ],
  [
    'headers-omit-headers-listed-in-Cache-Control-no-cache-single (check)',
    ['Cache-Control: no-cache="a"', 'Cache-Control: max-age=3600'],
    'never',
  ],
  ['cc-resp-must-revalidate-fresh', ['Cache-Control: max-age=10000, must-revalidate', 'ETag: "abcd"'], 'fresh'],
  ['cc-resp-must-revalidate-stale', ['Cache-Control: max-age=2, must-revalidate', 'ETag: "abcd"'], 'never'],
  ['cc-resp-immutable-fresh', ['Cache-Control: max-age=10000, immutable', 'ETag: "abcd"'], 'fresh'],
  ['cc-resp-immutable-stale', ['Cache-Control: max-age=2, immutable', 'ETag: "abcd"'], 'outage'],
  ['status-599-must-understand', ['Cache-Control: max-age=3600, no-store, must-understand'], 'never'],
  ['other-set-cookie', ['Cache-Control: max-age=100000', 'Date: @0', 'Set-Cookie: a=b'], 'fresh'],
  // Use after its time.
  ['stale-while-revalidate', ['Cache-Control: max-age=1, stale-while-revalidate=3600', 'ETag: "abc"'], 'outage'],
  ['stale-while-revalidate-window', ['Cache-Control: max-age=1, stale-while-revalidate=1', 'ETag: "abc"'], 'outage'],
  ['stale-close and stale-503 (check)', ['Cache-Control: max-age=2', 'Date: @0'], 'outage'],
  ['stale-sie-close and stale-sie-503 (check)', ['Cache-Control: max-age=2, stale-if-error=60'], 'outage'],
  ['stale-close-must-revalidate', ['Cache-Control: max-age=2, must-revalidate'], 'never'],
  ['stale-close-proxy-revalidate', ['Cache-Control: max-age=2, proxy-revalidate'], 'never'],
  ['stale-close-no-cache', ['Cache-Control: max-age=2, no-cache'], 'never'],
  ['stale-close-s-maxage=2', ['Cache-Control: max-age=2, s-maxage=2'], 'never'],
  // Age.
  ['age-parse-nonnumeric', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: abc'], 'fresh'],
  ['age-parse-negative', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: -7200'], 'fresh'],
  ['age-parse-float', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 7200.0'], 'fresh'],
  ['age-parse-large-minus-one', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 2147483647'], 'outage'],
  ['age-parse-large', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 2147483648'], 'outage'],
  ['age-parse-larger', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 2147483649'], 'outage'],
  ['age-parse-suffix', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 7200, 0'], 'outage'],
  ['age-parse-prefix', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 0, 7200'], 'fresh'],
  ['age-parse-suffix-twoline', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 7200', 'Age: 0'], 'outage'],
  ['age-parse-prefix-twoline', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 0', 'Age: 7200'], 'fresh'],
  ['age-parse-dup-0', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 0, 0'], 'fresh'],
  ['age-parse-dup-0-twoline', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 0', 'Age: 0'], 'fresh'],
  ['age-parse-dup-old', ['Date: @0', 'Cache-Control: max-age=10000', 'Age: 3600', 'Age: 3600'], 'fresh'],
  ['age-parse-parameter (check)', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 7200;foo=bar'], 'fresh'],
  ['age-parse-numeric-parameter (check)', ['Date: @0', 'Cache-Control: max-age=3600', 'Age: 7200;foo=111'], 'fresh'],
  // Expires.
  ['freshness-expires-future', ['Expires: @2592000', 'Date: @0'], 'fresh'],
  ['freshness-expires-past', ['Expires: @-2592000', 'Date: @0'], 'outage'],
  ['freshness-expires-present', ['Expires: @0', 'Date: @0'], 'outage'],
  ['freshness-expires-old-date', ['Expires: @300', 'Date: @400'], 'outage'],
  ['freshness-expires-invalid', ['Expires: 0', 'Date: @0'], 'outage'],
  ['freshness-expires-invalid-date', ['Date: foo', 'Expires: @10'], 'fresh'],
  ['freshness-expires-age-slow-date', ['Date: @-10', 'Expires: @10', 'Age: 25'], 'outage'],
  ['freshness-expires-age-fast-date', ['Date: @10', 'Expires: @20', 'Age: 15'], 'outage'],
  ['freshness-expires-32bit', ['Expires: Tue, 19 Jan 2038 14:14:08 GMT', 'Date: @0'], 'fresh'],
  ['freshness-expires-far-future', ['Expires: Sun, 21 Nov 2286 04:46:39 GMT', 'Date: @0'], 'fresh'],
  ['freshness-expires-rfc850', ['Expires: Thursday, 18-Aug-50 02:01:18 GMT', 'Date: @0'], 'fresh'],
  ['freshness-expires-ansi-c', ['Expires: Thu Aug  8 02:01:18 2050', 'Date: @0'], 'fresh'],
  ['freshness-expires-wrong-case-weekday', ['Expires: THU, 18 Aug 2050 02:01:18 GMT', 'Date: @0'], 'fresh'],
  ['freshness-expires-wrong-case-month', ['Expires: Thu, 18 AUG 2050 02:01:18 GMT', 'Date: @0'], 'fresh'],
  ['freshness-expires-wrong-case-tz', ['Expires: Thu, 18 Aug 2050 02:01:18 gMT', 'Date: @0'], 'fresh'],
  ['freshness-expires-invalid-aest', ['Expires: Thu, 18 Aug 2050 02:01:18 AEST', 'Date: @0'], 'outage'],
  ['freshness-expires-invalid-2-digit-year', ['Expires: Thu, 18 Aug 50 02:01:18 GMT', 'Date: @0'], 'outage'],
  ['freshness-expires-invalid-multiple-spaces', ['Expires: Thu, 18  Aug  2050 02:01:18 GMT', 'Date: @0'], 'outage'],
  ['freshness-expires-invalid-time-periods', ['Expires: Thu, 18 Aug 2050 02.01.18 GMT', 'Date: @0'], 'outage'],
  ['freshness-expires-invalid-1-digit-hour', ['Expires: Thu, 18 Aug 2050 2:01:18 GMT', 'Date: @0'], 'outage'],
  [
    'freshness-expires-invalid-multiple-lines',
    ['Expires: Thu, 18 Aug 2050 2:01:18 GMT', 'Expires: Thu, 18 Aug 2050 2:01:19 GMT', 'Date: @0'],
    'outage',
  ],
  // Vary. The requests have Foo and Baz, each with another value.
  ['vary-no-match, vary-omit, vary-omit-stored', ['Cache-Control: max-age=5000', 'Vary: Foo'], 'never'],
  ['vary-2-no-match, vary-2-match-omit', ['Cache-Control: max-age=5000', 'Vary: Foo, Bar'], 'never'],
  ['vary-3-no-match, vary-3-order', ['Cache-Control: max-age=5000', 'Vary: Foo, Bar, Baz'], 'never'],
  ['vary-cache-key', ['Cache-Control: max-age=5000', 'Vary: Bar'], 'fresh'],
  ['vary-star, vary-syntax-star', ['Cache-Control: max-age=5000', 'Vary: *'], 'never'],
  ['vary-syntax-star-star', ['Cache-Control: max-age=5000', 'Vary: *, *'], 'never'],
  ['vary-syntax-star-star-lines', ['Cache-Control: max-age=5000', 'Vary: *', 'Vary: *'], 'never'],
  ['vary-syntax-empty-star', ['Cache-Control: max-age=5000', 'Vary: , *'], 'never'],
  ['vary-syntax-empty-star-lines', ['Cache-Control: max-age=5000', 'Vary: ', 'Vary: *'], 'never'],
  ['vary-syntax-star-foo', ['Cache-Control: max-age=5000', 'Vary: *, Foo'], 'never'],
  ['vary-syntax-foo-star', ['Cache-Control: max-age=5000', 'Vary: Foo, *'], 'never'],
];

/*
 * Left out of the suite on purpose:
 * | Cases | Why |
 * | --- | --- |
 * | freshness-none, heuristic-* | without a time of upstream, the time of the endpoint's declaration counts |
 * | freshness-max-age-s-maxage-private*, cc-resp-private-private | they are for the cache of one user, which this is not |
 * | freshness-expires-invalid-utc, -no-comma, -date-dashes | the one reader of dates takes forms that RFC 9110 forbids, if the time is certain |
 * | cc-resp-no-store-old-*, other-date-*, query-args-* | they are about stores and keys: record-cache.test.ts |
 * | cc-resp-no-cache-revalidate*, conditional-*, 304-*, head-*, partial-*, interim-* | no request to upstream is conditional or partial |
 * | vary-*match, vary-3-omit, vary-normalise-*, vary-invalidate | no variants are stored: a header of each request has another value |
 * | headers-store-*, headers-omit-*-Connection, other-age-*, stale-warning-* | no header of upstream is passed on |
 * | status-*, except one | only a success and a certain absence are stored: call.test.ts, absence.test.ts |
 * | other-authorization* | the declaration of the endpoint says whose its responses are, not the Authorization of the request |
 * | cdn-*, pragma-* | they are for caches of another kind, and for HTTP 1.0 |
 * | ccreq-*, method-*, invalidate-* | they are about requests; docs/caching.md says which directives of a client are obeyed |
 */

const { share } = bookEndpoints.byId;
const rules = { share, isPersonal: false, mode: 'strict', sent: ['foo', '1', 'baz', '789'] } as const;
const settings = { ttlSeconds: undefined };

const rawOf = (headers: readonly string[]): Buffer[] =>
  headers
    .map((header) => header.replace(/@(-?\d+)/, (_, seconds) => new Date(NOON + Number(seconds) * 1000).toUTCString()))
    .flatMap((header) => [header.slice(0, header.indexOf(':')), header.slice(header.indexOf(':') + 2)])
    .map((text) => Buffer.from(text));

test.each(cases)('to the letter: %s, %j: %s', (_name, headers, use) => {
  const reuse = cacheabilityOf(headersOf(rawOf(headers)), rules);
  const { freshUntil, keptUntil } = timesOf(1, reuse, settings);
  vi.advanceTimersByTime(3000);
  const is = (until: number) => reuse.refusal === undefined && performance.now() < until;
  expect(is(freshUntil) ? 'fresh' : is(keptUntil) ? 'outage' : 'never').toBe(use);
});
