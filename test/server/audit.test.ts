import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { startFacade } from '../support/start-facade.ts';

const { url } = await startFacade();

// The audit suite of the GraphQL over HTTP working group.
describe('GraphQL over HTTP', () => {
  const audits = serverAudits({ url, fetchFn: fetch });

  test('the suite has all of its audits', () => {
    expect(audits.length).toBeGreaterThan(50);
  });

  test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_, audit) => {
    const result = await audit.fn();
    expect(result.status, 'reason' in result ? result.reason : '').toBe('ok');
  });
});
