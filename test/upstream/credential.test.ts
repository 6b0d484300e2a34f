import { expect, test } from 'vitest';
import { filmEndpoints } from '../../src/contract/film.ts';
import {
  createCredentials,
  forgetLearned,
  isLimited,
  learnFromAnswer,
  learnFromRefusal,
  tellingNames,
} from '../../src/upstream/credential.ts';

const stranger = () => createCredentials('app', undefined).of('somebody');

test('a token stands in tables under a name that does not tell it', () => {
  const credentials = createCredentials('own-secret', undefined);
  expect(credentials.of('secret').id).not.toContain('secret');
  expect(credentials.own.id).not.toContain('secret');
  expect(credentials.of('secret')).toBe(credentials.of('secret'));
  expect(credentials.of(null)).toBe(credentials.own);
});

test('the table of tokens is bounded', () => {
  const credentials = createCredentials(undefined, undefined);
  const first = credentials.of('0');
  for (let n = 1; n <= 10_000; n++) credentials.of(String(n));
  expect(credentials.of('0')).not.toBe(first);
});

test('an endpoint that answers tells the tiers that may have it', () => {
  const credential = stranger();
  learnFromAnswer(credential, filmEndpoints.search, { subjects: [] }, false);
  expect(credential.filmTier).toBeNull();
  learnFromAnswer(credential, filmEndpoints.celebrity, { id: '1', name: 'x' }, false);
  learnFromAnswer(credential, filmEndpoints.comments, { comments: [] }, false);
  expect(credential.filmTier).toBe('advance');
});

test('a refusal tells the tiers that may not, and is remembered for its endpoint', () => {
  const credential = stranger();
  learnFromRefusal(credential, filmEndpoints.celebrity);
  expect(credential.filmTier).toBe('premium');
  expect(credential.refused.get(filmEndpoints.celebrity.path)).toBeGreaterThan(Date.now() + 59_000);
});

test('a member that came tells the tiers that get it', () => {
  const credential = stranger();
  learnFromAnswer(credential, filmEndpoints.subject, { id: '1', languages: ['x'] }, false);
  expect(credential.possibleTiers).toEqual(['advance', 'premium']);
});

test('a whole record without any of them tells the rest, one without some of them nothing', () => {
  const basic = stranger();
  learnFromAnswer(basic, filmEndpoints.subject, { id: '1', title: 'x' }, false);
  expect(basic.filmTier).toBeNull();
  learnFromAnswer(basic, filmEndpoints.subject, { id: '1', title: 'x' }, true);
  expect(basic.filmTier).toBe('basic');
  const other = stranger();
  learnFromAnswer(other, filmEndpoints.subject, { id: '1', photos: [] }, true);
  expect(other.possibleTiers).toEqual(['advance', 'premium']);
});

test('what contradicts what is known is believed no more than what is known', () => {
  const credential = stranger();
  learnFromRefusal(credential, filmEndpoints.celebrity);
  learnFromAnswer(credential, filmEndpoints.weekly, { subjects: [] }, false);
  expect(credential.filmTier).toBe('premium');
});

test('a rejected token starts anew', () => {
  const credential = stranger();
  learnFromRefusal(credential, filmEndpoints.comments);
  expect(credential.filmTier).toBe('basic');
  forgetLearned(credential);
  expect(credential).toMatchObject({ filmTier: null, accepted: false });
  expect(credential.refused.size).toBe(0);
});

test('the facade’s own tier is what was configured, whatever came', () => {
  const { own } = createCredentials('app', undefined);
  learnFromRefusal(own, filmEndpoints.comments);
  expect(own.filmTier).toBeNull();
  expect(isLimited(own)).toBe(true);
  expect(createCredentials('app', 'premium').own.filmTier).toBe('premium');
});

test('names that tell the tier are asked only while it is not known whether it is basic', () => {
  const credential = stranger();
  expect(tellingNames(credential, filmEndpoints.subject, 'id,languages')).toEqual(['durations']);
  expect(tellingNames(credential, filmEndpoints.search, 'id')).toEqual([]);
  learnFromAnswer(credential, filmEndpoints.subject, { durations: [] }, false);
  expect(tellingNames(credential, filmEndpoints.subject, 'id')).toEqual([]);
});
