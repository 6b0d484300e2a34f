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

  test('has no rate limit without a token, even if the facade’s own token has one', async () => {
    const { execute } = facade({ accessToken: 'x', filmTier: 'basic' });
    const query = '{ viewer { rateBudget { limit } } }';
    expect((await execute(query)).data.viewer).toEqual({ rateBudget: null });
    expect((await execute(query, { token: 'mine' })).data.viewer).toEqual({ rateBudget: { limit: 40 } });
  });
});
