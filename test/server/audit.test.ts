import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { startFacade } from '../support/start-facade.ts';

/** Audits of the drafts; the text that was released in November 2026 has 422 in these cases, in the sections that are named. */
const superseded: Readonly<Record<string, string>> = {
  '423L': 'Invalid parameters',
  '86EE': 'Variable coercion failure',
};

// The audit suite of the GraphQL over HTTP working group.
describe.each(['2025', '2026'])('GraphQL over HTTP with HTTP_STATUSES=%s', async (httpStatuses) => {
  const { url } = await startFacade({ httpStatuses });
  const audits = serverAudits({ url, fetchFn: fetch });

  test('the suite has all of its audits', () => {
    expect(audits.length).toBeGreaterThan(50);
  });

  test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_, audit) => {
    const result = await audit.fn();
    const isSuperseded = httpStatuses === '2026' && audit.id in superseded;
    if (isSuperseded) expect('response' in result && result.response.status).toBe(422);
    else expect(result.status, 'reason' in result ? result.reason : '').toBe('ok');
  });
});
