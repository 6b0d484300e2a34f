import type { CollectMutation, ShelfSyncQuery } from 'catalog-graphql-client';
import { documentIds } from 'catalog-graphql-client/trusted';
import type { Answer } from './outbox.ts';
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
    const answer = (await response?.json().catch(() => undefined)) as Partial<Answer<Data>> | null | undefined;
    if (!response || (answer?.data === undefined && !answer?.errors)) return undefined;
    const serviceTime = Date.parse(response.headers.get('date') ?? '') || null;
    const retryAfter = Number(response.headers.get('retry-after')) || 0;
    return { ...answer, serviceTime, retryAfter };
  }
  return {
    changes: (variables) => post<ShelfSyncQuery>(documentIds.ShelfSync, variables),
    send: ({ key, variables }) => post<CollectMutation>(documentIds.Collect, variables, { 'idempotency-key': key }),
  };
}
