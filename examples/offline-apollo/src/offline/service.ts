import type { ShelfSyncQuery } from 'catalog-graphql-client';
import { documentIds } from 'catalog-graphql-client/trusted';
import type { Answer, Written } from './outbox.ts';
import type { Service } from './sync.ts';

/** A connection may be lost without a sign. The facade answers long before. */
const PATIENCE_MS = 60_000;

/** The facade, by POST: `since` grows with the shelf, and an address is limited. `headers`: the token that is valid now. */
export function serviceAt(url: string, headers: () => Record<string, string>, via = fetch): Service {
  async function post<Data>(
    documentId: string,
    variables: object,
    more?: Record<string, string>,
  ): Promise<Answer<Data> | undefined> {
    const body = JSON.stringify({ documentId, variables });
    const sent = { 'content-type': 'application/json', ...headers(), ...more };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await via(url, { method: 'POST', headers: sent, body, signal }).catch(() => undefined);
    if (!response) return undefined;
    const answer = (await response.json().catch(() => undefined)) as Partial<Answer<Data>> | null | undefined;
    const serviceTime = Date.parse(response.headers.get('date') ?? '') || null;
    const retryAfter = secondsIn(response.headers.get('retry-after'), serviceTime);
    return { ...(isOfFacade(answer) ? answer : noAnswer), serviceTime, retryAfter };
  }
  return {
    changes: (variables) => post<ShelfSyncQuery>(documentIds.ShelfSync, variables),
    send: ({ key, kind, variables }) =>
      post<Written>(kind === 'collect' ? documentIds.Collect : documentIds.UpdateCollection, variables, {
        'idempotency-key': key,
      }),
  };
}

/** The page of a proxy, or its JSON, says nothing of the request: it counts as an outage. */
const noAnswer = { errors: [{ message: 'There was no answer.', extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] };

/** Each error of the facade has a code. */
function isOfFacade<Data>(answer: Partial<Answer<Data>> | null | undefined): answer is Partial<Answer<Data>> {
  const { data, errors = [] } = answer ?? {};
  return (
    (data !== undefined || errors.length > 0) &&
    Array.isArray(errors) &&
    errors.every((error) => typeof error?.extensions?.code === 'string')
  );
}

const LONGEST_S = 3_600;

/** What `Retry-After` says: seconds, or a date. 0 for what is neither. */
function secondsIn(text: string | null, now: number | null): number {
  const date = Date.parse(text ?? '');
  const seconds = /^\d+$/.test(text ?? '')
    ? Number(text)
    : now === null || Number.isNaN(date)
      ? 0
      : (date - now) / 1_000;
  return Math.min(Math.max(0, Math.ceil(seconds)), LONGEST_S);
}
