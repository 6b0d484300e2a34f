import { describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { serviceErrors } from '../../../src/api/errors.ts';
import {
  createCredentials,
  learnPerson,
  rejectionBy,
  repeatRejection,
} from '../../../src/upstream/auth/credentials.ts';
import type { Service } from '../../../src/upstream/errors.ts';
import { createApiRequest } from '../../../src/api/api-request.ts';
import { filmTiers } from '../../../src/api/film-tiers.ts';

const row = serviceErrors[103];
const rejection = (service: Service) => ({ service, status: 401, code: 103, row, request: 'GET /x' });

test('the id of a credential does not contain its token, and equal tokens share one credential', () => {
  const credentials = createCredentials(filmTiers, 'own-secret', undefined);
  expect(credentials.of('secret').id).not.toContain('secret');
  expect(credentials.own.id).not.toContain('secret');
  expect(credentials.of('secret')).toBe(credentials.of('secret'));
  expect(credentials.of(null)).toBe(credentials.own);
});

test('the table of tokens is bounded', () => {
  const credentials = createCredentials(filmTiers, undefined, undefined);
  const [first, known] = [credentials.of('first'), credentials.of('known')];
  credentials.accept(known, 'catalog');
  for (let n = 0; n < 10_000; n++) credentials.of(`made up ${n}`);
  expect(credentials.of('first')).not.toBe(first);
  // Unverified tokens do not evict tokens that a service has accepted.
  expect(credentials.of('known')).toBe(known);
  for (let n = 0; n < 10_000; n++) credentials.accept(credentials.of(`real ${n}`), 'catalog');
  expect(credentials.of('known')).not.toBe(known);
});

test('tokens that a service accepts take no room from those that are not verified yet', () => {
  const credentials = createCredentials(filmTiers, undefined, undefined);
  const unverified = credentials.of('unverified');
  for (let n = 0; n < 1_000; n++) credentials.accept(credentials.of(`real ${n}`), 'catalog');
  expect(credentials.of('unverified')).toBe(unverified);
});

test('rejecting a token clears what was learned about it', () => {
  const credentials = createCredentials(filmTiers, undefined, undefined);
  const credential = credentials.of('somebody');
  credentials.accept(credential, 'catalog');
  credential.possibleTiers = ['basic'];
  credential.person = { id: '1' };
  credential.refusedEndpoints.set('/x', 7);
  credentials.reject(credential, rejection('catalog'));
  expect(credential).toMatchObject({ filmTier: null, accepted: false, person: undefined });
  expect(credential.refusedEndpoints.size).toBe(0);
});

test('a rejection is remembered for its service alone, unless the token was accepted before, and until the service accepts it', () => {
  const credentials = createCredentials(filmTiers, undefined, undefined);
  const credential = credentials.of('somebody');
  credentials.accept(credential, 'catalog');
  credentials.reject(credential, rejection('catalog'));
  expect(rejectionBy('catalog', credential)).toBeUndefined();
  credentials.reject(credential, rejection('catalog'));
  expect(rejectionBy('catalog', credential)).toBeDefined();
  expect(rejectionBy('events', credential)).toBeUndefined();
  expect(() => repeatRejection(credential, createApiRequest(bookEndpoints.byId, { id: 'y' }))).toThrow(
    'GET /v2/book/y was rejected: status 401, code 103',
  );
  expect(credential.isRejected).toBe(true);
  credentials.accept(credential, 'catalog');
  expect(rejectionBy('catalog', credential)).toBeUndefined();
  expect(credential.isRejected).toBe(false);
});

test('a 401 without a code rejects the token; one with a code that does not name the token concerns its request alone', () => {
  const credentials = createCredentials(filmTiers, undefined, undefined);
  const { service, request, status } = rejection('catalog');
  const [unexplained, explained] = [credentials.of('unexplained'), credentials.of('explained')];
  credentials.reject(unexplained, { service, request, status });
  credentials.reject(explained, { service, request, status, code: 1001, row: serviceErrors[1001] });
  expect(rejectionBy('catalog', unexplained)).toBeDefined();
  expect(rejectionBy('catalog', explained)).toBeUndefined();
});

test('a rejection by one service keeps what another service has verified', () => {
  const credentials = createCredentials(filmTiers, undefined, undefined);
  const credential = credentials.of('somebody');
  credentials.accept(credential, 'catalog');
  credential.possibleTiers = ['advance'];
  for (let n = 0; n < 2; n++) credentials.reject(credential, rejection('events'));
  expect(credential).toMatchObject({ filmTier: 'advance', accepted: true });
});

describe('the person of a token', () => {
  const learnedFrom = (author: unknown) => {
    const credential = createCredentials(filmTiers, undefined, undefined).of('somebody');
    learnPerson(credential, createApiRequest(bookEndpoints.updateAnnotation, { id: '7' }), { author_user: author });
    return credential.person;
  };

  test('is the author of a record that the token has written', () => {
    expect(learnedFrom({ id: '1', uid: 'alice', name: 'Alice' })).toEqual({ id: '1', uid: 'alice', name: 'Alice' });
  });

  test('is not a site, in whose name a person may write', () => {
    expect(learnedFrom({ id: '2', uid: 'shop', name: 'A shop', type: 'site' })).toBeUndefined();
  });

  test('is unknown if the record has no author', () => {
    expect(learnedFrom(null)).toBeUndefined();
    expect(learnedFrom(undefined)).toBeUndefined();
  });
});
