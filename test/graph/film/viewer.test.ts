import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

describe('viewer', () => {
  test('has the login state, tier and rate limit of the request, without an upstream call', async () => {
    const { execute, calls } = facade({ accessToken: 'x', filmTier: 'premium' });
    const query = '{ viewer { isLoggedIn filmTier rateBudget { limit } } }';
    expect((await execute(query)).data.viewer).toEqual({ isLoggedIn: false, filmTier: 'PREMIUM', rateBudget: null });
    expect((await execute(query, { token: 'mine' })).data.viewer).toMatchObject({ isLoggedIn: true, filmTier: null });
    expect(calls).toEqual([]);
  });
});
