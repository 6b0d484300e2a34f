import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, test } from 'vitest';
import { createApiRequest } from '../../src/api/api-request.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { byOwnId, endpoint, endpointTable, gives, takes } from '../../src/api/endpoint-table.ts';
import { filmFacts } from '../../src/api/film.ts';
import { filmTiers } from '../../src/api/film-tiers.ts';
import { requirementsOf } from '../../src/engine/requirements/requirements.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { createAccess } from '../../src/origin/access.ts';
import { scopesOf } from '../../src/origin/store/tokens.ts';
import { createCredentials } from '../../src/upstream/auth/credentials.ts';
import type { CacheKey } from '../../src/upstream/cache/memory.ts';
import { createMemoryCache } from '../../src/upstream/cache/memory.ts';
import { createRecordCache } from '../../src/upstream/cache/record-cache.ts';
import { RateLimiter } from '../../src/upstream/limits/rate-limiter.ts';
import type { WriteRule, WriteRules } from '../../src/upstream/write-guard.ts';

const subject = () => endpoint('GET /v2/movie/subject/:id', 'movie_basic_r', takes(), gives(200), byOwnId);
const wishing = endpoint('POST /v2/movie/subject/:id/wish', 'movie_premium_r', takes(), gives(200, 'empty'));
/** The films with a write, which the catalog does not have. */
const films = endpointTable(filmFacts, { subject: subject(), wish: wishing });

/** The key by which a record of the endpoint is looked up in a cache that replicas share. */
function keyOf(read: Endpoint): CacheKey {
  const cache = createMemoryCache(1_000);
  let found: CacheKey | undefined;
  const get = (key: CacheKey) => cache.get((found = key));
  const viewer = createRecordCache({ cache: { ...cache, get } }).forViewer({
    credential: { id: 'x', isOwn: false, accepted: false },
  });
  void viewer.record(read, 'Subject', '7').get(['id']);
  return found!;
}

test('a table is read only until one of its endpoints writes', () => {
  const { subject: read } = endpointTable(filmFacts, { subject: subject() });
  expect([keyOf(read).isReadOnly, keyOf(films.subject).isReadOnly]).toEqual([true, false]);
});

test('a write takes a slot of the rate limit of its table, here and at the origin', async () => {
  const limiter = new RateLimiter({
    retryAfterSeconds: 5,
    maxRetryAfterSeconds: 60,
    callTimeoutMs: 10_000,
    operationTimeoutMs: 15_000,
    basicCallsAMinute: 1,
  });
  const credential = Object.assign(createCredentials(filmTiers, undefined, undefined).of('bob'), {
    accepted: true,
    possibleTiers: ['basic'] as const,
  });
  const request = createApiRequest(films.wish, { id: '7' });
  const call = { request, credential, address: '127.0.0.1', cancellation: createCancellationToken() };
  await limiter.acquire(call);
  await expect(limiter.acquire(call)).rejects.toMatchObject({ name: 'RateLimited' });

  const access = createAccess({} as never, () => 0);
  const admit = () =>
    access.admit(films.wish, { reader: '1', tier: 'basic', scopes: new Set(['movie_premium_r']), source: 'token bob' });
  for (let calls = 0; calls < 40; calls++) admit();
  expect(admit).toThrow(expect.objectContaining({ code: 112 }));
});

test('a write requires its scope, a login and a tier of its table, whatever says who may see its response', () => {
  const [type, extensions] = [GraphQLString, { rule: { writeEndpoint: films.wish } }];
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { nothing: { type } } }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields: { wishFilm: { type, extensions } } }),
  });
  expect(requirementsOf(schema).get('Mutation.wishFilm')).toEqual({
    coordinate: 'Mutation.wishFilm',
    tiers: ['basic', 'advance', 'premium'],
    scopes: ['movie_premium_r'],
    loginRequired: true,
  });
  const access = createAccess({} as never);
  const admit = (reader: string | null, scopes: string[]) => () =>
    access.admit(films.wish, { reader, tier: 'advance', scopes: new Set(scopes), source: 'token x' });
  expect(admit('1', ['movie_basic_r'])).toThrow(expect.objectContaining({ code: 1001 }));
  expect(admit(null, ['movie_premium_r'])).toThrow(expect.objectContaining({ code: 1000 }));
});

test('a table of rules without one for each write does not compile', () => {
  const rule: WriteRule<{ id: string }> = { lookAt: () => 'b', reads: [0, 0] };
  // @ts-expect-error: `wish` is missing
  const lacking: WriteRules<typeof films> = {};
  const rules: WriteRules<typeof films> = { wish: rule };
  expect([lacking, rules.wish]).toEqual([{}, rule]);
});

test('a demo token of no person has no scope that an endpoint with a login requires', () => {
  const endpoints = Object.values<Endpoint>(films as never);
  expect(scopesOf('advance', true, endpoints)).toEqual(['movie_basic_r', 'movie_premium_r']);
  expect(scopesOf('advance', false, endpoints)).toEqual(['movie_basic_r']);
  expect(scopesOf('advance', false)).toEqual(['book_basic_r', 'movie_basic_r', 'movie_advance_r', 'movie_premium_r']);
});
