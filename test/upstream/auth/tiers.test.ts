import { expect, test } from 'vitest';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { filmEndpoints, subjectMembers } from '../../../src/api/film.ts';
import { type Credential, createCredentials, isLimited } from '../../../src/upstream/auth/credentials.ts';
import { RecordRejected, TierRequired, UpstreamRejection } from '../../../src/upstream/errors.ts';
import {
  learnFromResponse,
  learnFromRejection,
  tierProbeFields,
  fieldsWithheldByTier,
} from '../../../src/upstream/auth/tiers.ts';

const stranger = () => createCredentials('app', undefined).of('somebody');

/** The service refuses the credential a record, or a chart, for want of permission. */
const refuse = (credential: Credential, endpoint: Endpoint, id = '1') =>
  learnFromRejection(
    credential,
    endpoint,
    new UpstreamRejection({
      service: 'catalog',
      status: 403,
      code: 1000,
      request: `GET ${endpoint.path.replace(':id', id)}`,
    }),
  );

test('an endpoint that answers tells the tiers that may have it', () => {
  const credential = stranger();
  learnFromResponse(credential, filmEndpoints.search, { subjects: [] });
  expect(credential.filmTier).toBeNull();
  learnFromResponse(credential, filmEndpoints.celebrity, { id: '1', name: 'x' });
  learnFromResponse(credential, filmEndpoints.comments, { comments: [] });
  expect(credential.filmTier).toBe('advance');
});

test('a chart that is refused tells the tiers that may not, and is left alone for a while', () => {
  const credential = stranger();
  expect(refuse(credential, filmEndpoints.top250)).toBeInstanceOf(TierRequired);
  expect(credential.filmTier).toBe('premium');
  expect(credential.possibleTiers).toEqual(['premium']);
  expect(credential.refusedEndpoints.get(filmEndpoints.top250.path)).toBeGreaterThan(performance.now() + 50_000);
  expect(refuse(credential, filmEndpoints.celebrity)).toBeInstanceOf(TierRequired);
});

test('one record that is refused closes nothing, and lets the tier be guessed at most', () => {
  const credential = stranger();
  expect(refuse(credential, filmEndpoints.celebrity)).toBeInstanceOf(RecordRejected);
  expect(refuse(credential, filmEndpoints.celebrity)).toBeInstanceOf(RecordRejected);
  expect(credential.refusedEndpoints.size).toBe(0);
  expect([credential.filmTier, credential.possibleTiers.length]).toEqual(['premium', 3]);
  learnFromResponse(credential, filmEndpoints.celebrity, { id: '2', name: 'x' });
  expect([credential.filmTier, credential.possibleTiers]).toEqual([null, ['basic', 'advance']]);
});

test('several records that are refused, and none that is not, are those of a tier', () => {
  const credential = stranger();
  const told = ['1', '2', '2', '3'].map((id) => refuse(credential, filmEndpoints.celebrity, id));
  expect(told.map((error) => error instanceof TierRequired)).toEqual([false, false, false, true]);
  expect([credential.filmTier, credential.possibleTiers]).toEqual(['premium', ['premium']]);
});

test('a list beside a record is refused for the tier, as far as is known, and closed when that is sure', () => {
  const credential = stranger();
  expect(refuse(credential, filmEndpoints.comments)).toBeInstanceOf(TierRequired);
  expect([credential.refusedEndpoints.size, credential.possibleTiers.length]).toEqual([0, 3]);
  learnFromResponse(credential, filmEndpoints.subject, { id: '1', languages: ['x'] });
  expect(refuse(credential, filmEndpoints.comments)).toBeInstanceOf(RecordRejected);
});

test('a refusal by an endpoint that the tier has is the record’s, however often', () => {
  for (const { own, anonymous } of [createCredentials('app', 'basic'), createCredentials('app', undefined)])
    for (const credential of [own, anonymous])
      for (let id = 0; id < 5; id++)
        expect(refuse(credential, filmEndpoints.celebrity, String(id))).toBeInstanceOf(RecordRejected);
});

test('a refusal of another kind is told as it came', () => {
  const refusal = new UpstreamRejection({ service: 'catalog', status: 403, code: 1001, request: 'GET /x' });
  expect(learnFromRejection(stranger(), filmEndpoints.celebrity, refusal)).toBe(refusal);
});

test('a member that came tells the tiers that get it, one that is absent tells nothing', () => {
  const credential = stranger();
  learnFromResponse(credential, filmEndpoints.subject, { id: '1', title: 'x' });
  expect(credential.possibleTiers).toHaveLength(3);
  learnFromResponse(credential, filmEndpoints.subject, { id: '1', languages: ['x'] });
  expect(credential.possibleTiers).toEqual(['advance', 'premium']);
});

test('an answer that contradicts what was learned is believed: the tier was changed', () => {
  const credential = stranger();
  refuse(credential, filmEndpoints.weekly);
  refuse(credential, filmEndpoints.inTheaters);
  expect(credential.filmTier).toBe('basic');
  learnFromResponse(credential, filmEndpoints.subject, { id: '1', languages: ['x'] });
  expect([credential.filmTier, credential.refusedEndpoints.size]).toEqual([null, 0]);
  learnFromResponse(credential, filmEndpoints.weekly, { subjects: [] });
  expect(credential.filmTier).toBe('advance');
});

test('the facade’s own tier is what was configured, whatever came', () => {
  const { own } = createCredentials('app', undefined);
  refuse(own, filmEndpoints.weekly);
  refuse(own, filmEndpoints.inTheaters);
  expect(own.filmTier).toBeNull();
  expect(isLimited(own)).toBe(true);
  const configured = createCredentials('app', 'premium').own;
  learnFromResponse(configured, filmEndpoints.weekly, { subjects: [] });
  expect(configured.filmTier).toBe('premium');
});

test('names that tell the tier are asked only while it is not known whether it is basic', () => {
  const credential = stranger();
  expect(tierProbeFields(credential, filmEndpoints.subject, 'id,languages')).toEqual(['durations']);
  expect(tierProbeFields(credential, filmEndpoints.search, 'id')).toEqual([]);
  learnFromResponse(credential, filmEndpoints.subject, { durations: [] });
  expect(tierProbeFields(credential, filmEndpoints.subject, 'id')).toEqual([]);
});

test('an absent member is withheld by the tier where no possible tier gets it, and may be a default elsewhere', () => {
  const film = { endpoint: filmEndpoints.subject, tiers: subjectMembers };
  const names = ['title', 'website', 'languages'];
  const came = { id: '1', title: 'x' };
  expect(fieldsWithheldByTier(film, came, names, ['basic'])).toEqual(['website', 'languages']);
  expect(fieldsWithheldByTier(film, came, names, ['advance'])).toEqual([]);
  expect(fieldsWithheldByTier(film, came, names, ['advance', 'premium'])).toEqual([]);
  expect(fieldsWithheldByTier(film, came, names, ['basic', 'advance', 'premium'])).toEqual([]);
  // What nearly every film has, all of it absent, is no default.
  const telling = ['durations', 'languages', 'pubdates', 'website'];
  expect(fieldsWithheldByTier(film, came, telling, ['basic', 'advance', 'premium'])).toEqual(telling);
  expect(fieldsWithheldByTier(film, { ...came, writers: [] }, telling, ['basic', 'advance', 'premium'])).toEqual([]);
  // Nor is it, where more came than the tier gets: it is another.
  expect(fieldsWithheldByTier(film, { ...came, languages: ['x'] }, names, ['basic'])).toEqual([]);
});
