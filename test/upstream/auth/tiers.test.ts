import { expect, test } from 'vitest';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { serviceErrors } from '../../../src/api/errors.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { filmTiers } from '../../../src/api/film-tiers.ts';
import { type Credential, createCredentials } from '../../../src/upstream/auth/credentials.ts';
import { isLimited } from '../../../src/upstream/auth/viewer.ts';
import { RecordRejected, TierRequired, UpstreamRejection } from '../../../src/upstream/errors.ts';
import { learnFromResponse, learnFromRejection } from '../../../src/upstream/auth/tiers.ts';

const newCredential = () => createCredentials(filmTiers, 'app', undefined).of('somebody');

/** The service rejects a request for a record or a chart with "permission denied". */
const reject = (credential: Credential, endpoint: Endpoint, id = '1') =>
  learnFromRejection(
    filmTiers,
    credential,
    endpoint,
    new UpstreamRejection({
      service: 'catalog',
      status: 403,
      code: 1000,
      row: serviceErrors[1000],
      request: `GET ${endpoint.path.replace(':id', id)}`,
    }),
  );

test('a response of an endpoint narrows the possible tiers to those that may call it', () => {
  const credential = newCredential();
  learnFromResponse(filmTiers, credential, filmEndpoints.search, { subjects: [] });
  expect(credential.filmTier).toBeNull();
  learnFromResponse(filmTiers, credential, filmEndpoints.celebrity, { id: '1', name: 'x' });
  learnFromResponse(filmTiers, credential, filmEndpoints.comments, { comments: [] });
  expect(credential.filmTier).toBe('advance');
});

test('a rejected chart narrows the possible tiers to those that may not call it, and closes the endpoint for a while', () => {
  const credential = newCredential();
  expect(reject(credential, filmEndpoints.top250)).toBeInstanceOf(TierRequired);
  expect(credential.filmTier).toBe('premium');
  expect(credential.possibleTiers).toEqual(['premium']);
  expect(credential.refusedEndpoints.get(filmEndpoints.top250.path)).toBeGreaterThan(performance.now() + 50_000);
  expect(reject(credential, filmEndpoints.celebrity)).toBeInstanceOf(TierRequired);
});

test('a single rejected record closes no endpoint, and the tier is only guessed', () => {
  const credential = newCredential();
  expect(reject(credential, filmEndpoints.celebrity)).toBeInstanceOf(TierRequired);
  expect(reject(credential, filmEndpoints.celebrity)).toBeInstanceOf(TierRequired);
  expect(credential.refusedEndpoints.size).toBe(0);
  expect([credential.filmTier, credential.possibleTiers.length]).toEqual(['premium', 3]);
  learnFromResponse(filmTiers, credential, filmEndpoints.celebrity, { id: '2', name: 'x' });
  expect([credential.filmTier, credential.possibleTiers]).toEqual([null, ['basic', 'advance']]);
  // The tier gets the endpoint: the record is the reason.
  expect(reject(credential, filmEndpoints.celebrity)).toBeInstanceOf(RecordRejected);
});

test('rejections of three different records, and no success, prove that the tier lacks the endpoint', () => {
  const credential = newCredential();
  const errors = ['1', '2', '2', '3'].map((id) => reject(credential, filmEndpoints.celebrity, id));
  // One code for all of them, as `filmTier` is shown from the first on.
  expect(errors.map((error) => error instanceof TierRequired)).toEqual([true, true, true, true]);
  expect([credential.refusedEndpoints.size, credential.filmTier, credential.possibleTiers]).toEqual([
    1,
    'premium',
    ['premium'],
  ]);
});

test('a rejected list of a record is a tier rejection while the tier is uncertain, and a record rejection once the tier may call it', () => {
  const credential = newCredential();
  expect(reject(credential, filmEndpoints.comments)).toBeInstanceOf(TierRequired);
  expect([credential.refusedEndpoints.size, credential.possibleTiers.length]).toEqual([0, 3]);
  learnFromResponse(filmTiers, credential, filmEndpoints.subject, { id: '1', languages: ['x'] });
  expect(reject(credential, filmEndpoints.comments)).toBeInstanceOf(RecordRejected);
});

test('a rejection by an endpoint that the tier may call concerns the record, however often it happens', () => {
  for (const { own, anonymous } of [
    createCredentials(filmTiers, 'app', 'basic'),
    createCredentials(filmTiers, 'app', undefined),
  ])
    for (const credential of [own, anonymous])
      for (let id = 0; id < 5; id++)
        expect(reject(credential, filmEndpoints.celebrity, String(id))).toBeInstanceOf(RecordRejected);
});

test('rejections with other codes are passed on unchanged', () => {
  const [code, row] = [1001, serviceErrors[1001]];
  const rejection = new UpstreamRejection({ service: 'catalog', status: 403, code, row, request: 'GET /x' });
  expect(learnFromRejection(filmTiers, newCredential(), filmEndpoints.celebrity, rejection)).toBe(rejection);
});

test('a returned field narrows the possible tiers to those that get it, a missing field does not', () => {
  const credential = newCredential();
  learnFromResponse(filmTiers, credential, filmEndpoints.subject, { id: '1', title: 'x' });
  expect(credential.possibleTiers).toHaveLength(3);
  learnFromResponse(filmTiers, credential, filmEndpoints.subject, { id: '1', languages: ['x'] });
  expect(credential.possibleTiers).toEqual(['advance', 'premium']);
});

test('a response that contradicts the learned tier resets it, because the tier may have been changed', () => {
  const credential = newCredential();
  reject(credential, filmEndpoints.weekly);
  reject(credential, filmEndpoints.inTheaters);
  expect(credential.filmTier).toBe('basic');
  learnFromResponse(filmTiers, credential, filmEndpoints.subject, { id: '1', languages: ['x'] });
  expect([credential.filmTier, credential.refusedEndpoints.size]).toEqual([null, 0]);
  learnFromResponse(filmTiers, credential, filmEndpoints.weekly, { subjects: [] });
  expect(credential.filmTier).toBe('advance');
});

test('the tier of the facade’s own token is the configured one, whatever responses suggest', () => {
  const { own } = createCredentials(filmTiers, 'app', undefined);
  reject(own, filmEndpoints.weekly);
  reject(own, filmEndpoints.inTheaters);
  expect(own.filmTier).toBeNull();
  expect(isLimited(own)).toBe(true);
  const configured = createCredentials(filmTiers, 'app', 'premium').own;
  learnFromResponse(filmTiers, configured, filmEndpoints.weekly, { subjects: [] });
  expect(configured.filmTier).toBe('premium');
});

test('fields that show the tier are requested only for a field that some of its possible tiers get and others do not', () => {
  const film = filmEndpoints.subject;
  const evidence = ['durations', 'languages', 'pubdates'];
  expect(filmTiers.evidence(film, ['title', 'website'], ['basic', 'advance', 'premium'])).toEqual(evidence);
  expect(filmTiers.evidence(film, ['title', 'no_such_member'], ['basic', 'advance', 'premium'])).toEqual([]);
  expect(filmTiers.evidence(film, ['title'], ['basic', 'advance'])).toEqual([]);
  expect(filmTiers.evidence(film, ['title'], ['basic', 'advance'], true)).toEqual(evidence);
  expect(filmTiers.evidence(film, ['website'], ['basic'])).toEqual([]);
  expect(filmTiers.evidence(film, ['website'], ['advance', 'premium'])).toEqual([]);
  expect(filmTiers.evidence(filmEndpoints.search, ['website'], ['basic', 'advance'])).toEqual([]);
});

test('a missing field is withheld by the tier if no possible tier gets it, otherwise it may be a default value', () => {
  const film = filmEndpoints.subject;
  const names = ['title', 'website', 'languages'];
  const response = { id: '1', title: 'x' };
  expect(filmTiers.withheld(film, response, names, ['basic'])).toEqual(['website', 'languages']);
  expect(filmTiers.withheld(film, response, names, ['advance'])).toEqual([]);
  expect(filmTiers.withheld(film, response, names, ['advance', 'premium'])).toEqual([]);
  expect(filmTiers.withheld(film, response, names, ['basic', 'advance', 'premium'])).toEqual([]);
  // If all the fields that nearly every film has are missing, they are withheld.
  const usualFields = ['durations', 'languages', 'pubdates', 'website'];
  expect(filmTiers.withheld(film, response, usualFields, ['basic', 'advance', 'premium'])).toEqual(usualFields);
  expect(filmTiers.withheld(film, { ...response, writers: [] }, usualFields, ['basic', 'advance', 'premium'])).toEqual(
    [],
  );
  // A response with more fields than the tier gets disproves the tier.
  expect(filmTiers.withheld(film, { ...response, languages: ['x'] }, names, ['basic'])).toEqual([]);
});

test('a member of a record that is named like one of every object proves nothing', () => {
  const film = filmEndpoints.subject;
  const record = { id: '1', constructor: 1, toString: 2 };
  expect(filmTiers.withheld(film, record, ['website'], ['basic', 'advance'])).toEqual([]);
  expect(filmTiers.withheld(film, record, ['website'], ['basic'])).toEqual(['website']);
  const credential = newCredential();
  learnFromResponse(filmTiers, credential, filmEndpoints.subject, record);
  expect(credential.possibleTiers).toEqual(['basic', 'advance', 'premium']);
});
