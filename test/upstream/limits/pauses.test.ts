import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createApiRequest } from '../../../src/api/api-request.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { filmTiers } from '../../../src/api/film-tiers.ts';
import { createCredentials } from '../../../src/upstream/auth/credentials.ts';
import { RateLimited, UpstreamFailure } from '../../../src/upstream/errors.ts';
import { type Pauses, createPauses } from '../../../src/upstream/limits/pauses.ts';

const settings = { retryAfterSeconds: 5, maxRetryAfterSeconds: 60 };
const credentials = createCredentials(filmTiers, 'app', undefined);
const book = bookEndpoints.byId;
const film = filmEndpoints.subject;
const to = (endpoint: Endpoint) => createApiRequest(endpoint, { id: '7' });

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

function accepted(token: string) {
  const credential = credentials.of(token);
  credentials.accept(credential, 'catalog');
  return credential;
}

test.each([
  ['as Retry-After says', 7, [7, 14, 28, 56, 60, 60]],
  ['five seconds', undefined, [5, 10, 20, 40, 60, 60]],
  ['a second', 0, [1, 2, 4, 8, 16, 32]],
  ['at most as the setting says', 99_999_999_999, [60, 60]],
])('a pause is %s, and twice as long each time the service refuses again', (_, asked, lengths) => {
  const pauses = createPauses(settings);
  const alice = accepted('alice');
  for (const seconds of lengths) {
    expect(pauses.begin(book, alice, 'group', asked)).toBe(seconds);
    expect(pauses.refusal(to(book), alice)).toMatchObject({ retryAfter: seconds });
    later(seconds);
    expect(pauses.refusal(to(book), alice)).toBeUndefined();
  }
});

test('refusals of calls that were under way make a pause no longer', () => {
  const pauses = createPauses(settings);
  const alice = accepted('alice');
  for (let call = 0; call < 6; call++) expect(pauses.begin(book, alice, 'group', 7)).toBe(7);
});

test('a shorter wish during a pause does not shorten it', () => {
  const pauses = createPauses(settings);
  const alice = accepted('alice');
  pauses.begin(book, alice, 'group', 30);
  pauses.begin(book, alice, 'group', 3);
  expect(pauses.refusal(to(book), alice)).toMatchObject({ retryAfter: 30 });
});

test.each([
  ['the service took a call', (pauses: Pauses) => pauses.end(book, accepted('alice'))],
  ['it was not asked for a while', () => later(61)],
])('a pause is as short as at first again after %s', (_, happens) => {
  const pauses = createPauses(settings);
  const alice = accepted('alice');
  pauses.begin(book, alice, 'group', 7);
  later(7);
  happens(pauses);
  expect(pauses.begin(book, alice, 'group', 7)).toBe(7);
});

test('a call that was under way and succeeds does not end a pause', () => {
  const pauses = createPauses(settings);
  const alice = accepted('alice');
  pauses.begin(book, alice, 'group', 7);
  pauses.end(book, alice);
  expect(pauses.refusal(to(book), alice)).toBeInstanceOf(RateLimited);
});

test('a refusal of a credential pauses its calls to that group of endpoints alone', () => {
  const pauses = createPauses(settings);
  pauses.begin(book, accepted('alice'), 'group', 7);
  expect(pauses.refusal(to(book), accepted('alice'))).toBeInstanceOf(RateLimited);
  expect(pauses.refusal(to(film), accepted('alice'))).toBeUndefined();
  expect(pauses.refusal(to(book), accepted('bob'))).toBeUndefined();
});

test('an endpoint that takes no calls is paused for everybody, but not by a token that the service has not accepted', () => {
  const pauses = createPauses(settings);
  pauses.begin(book, credentials.of('made up'), 'endpoint', 7);
  expect(pauses.refusal(to(book), credentials.of('made up'))).toMatchObject({ retryAfter: 7 });
  expect(pauses.refusal(to(book), accepted('alice'))).toBeUndefined();
  pauses.begin(book, accepted('alice'), 'endpoint', 9);
  expect(pauses.refusal(to(book), accepted('bob'))).toBeInstanceOf(UpstreamFailure);
  expect(pauses.refusal(to(book), credentials.own)).toMatchObject({ retryAfter: 9 });
  expect(pauses.refusal(to(bookEndpoints.search), credentials.own)).toBeUndefined();
});

test('a service is paused once three endpoints say so, and none took a call meanwhile', () => {
  const pauses = createPauses(settings);
  const alice = accepted('alice');
  const [one, two, three] = [bookEndpoints.search, filmEndpoints.search, filmEndpoints.top250];
  const isPaused = () => pauses.refusal(to(book), alice) !== undefined;
  for (const endpoint of [one, one, one, two]) pauses.begin(endpoint, alice, 'endpoint', 9);
  pauses.end(film, accepted('bob'));
  pauses.begin(three, alice, 'endpoint', 9);
  expect(isPaused()).toBe(false);
  for (const endpoint of [one, two]) pauses.begin(endpoint, alice, 'endpoint', 9);
  expect(isPaused()).toBe(true);
});
