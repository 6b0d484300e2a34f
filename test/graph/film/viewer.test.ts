import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

describe('viewer', () => {
  test('tells what this caller may do, without a call', async () => {
    const { ask, calls } = facade({ accessToken: 'x', filmTier: 'premium' });
    const question = '{ viewer { isLoggedIn filmTier rateBudget { limit } } }';
    expect((await ask(question)).data.viewer).toEqual({ isLoggedIn: false, filmTier: 'PREMIUM', rateBudget: null });
    expect((await ask(question, { token: 'mine' })).data.viewer).toMatchObject({ isLoggedIn: true, filmTier: null });
    expect(calls).toEqual([]);
  });
});
