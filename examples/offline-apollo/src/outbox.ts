import { type ApolloClient, ApolloLink, CombinedGraphQLErrors, ServerError, ServerParseError } from '@apollo/client';
import { CollectDocument, type CollectMutation, type CollectMutationVariables } from 'catalog-graphql-client';
import { fieldErrors } from 'catalog-graphql-client/errors';
import { get, set } from 'idb-keyval';
import { firstValueFrom, from } from 'rxjs';
import { expected, showOnShelf } from './shelf.ts';

/** A write that the service has not confirmed. Its key goes with every attempt, so that it is made once. */
export interface QueuedWrite {
  key: string;
  title: string;
  variables: CollectMutationVariables & { book: string };
}

interface State {
  waiting: readonly QueuedWrite[];
  /** Why the last rejected write was rejected. */
  problem?: string | undefined;
}

const OUTBOX = 'outbox';
const AGAIN_MS = 5_000;
/** The service did not say no: the same write with the same key may be sent again. */
const TEMPORARY = [
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_RESULT_UNKNOWN',
  'RATE_LIMITED',
  'OVERLOADED',
  'IDEMPOTENCY_IN_PROGRESS',
  'TOO_MANY_KEYED_WRITES',
  'IDEMPOTENCY_UNAVAILABLE',
  'TOO_MANY_IDEMPOTENCY_KEYS',
];

/** Whether a response says only that the service cannot answer now. */
export const isOutage = (errors: readonly { extensions?: Record<string, unknown> }[] = []): boolean =>
  errors.some(({ extensions }) => TEMPORARY.includes(String(extensions?.code)));

let state: State = { waiting: [] };
const listeners = new Set<() => void>();

function change(next: Partial<State>): void {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

/** Stored before it is sent: a write survives the end of the app. */
async function add(client: ApolloClient, write: Omit<QueuedWrite, 'key'>): Promise<void> {
  const queued = { ...write, key: crypto.randomUUID() };
  change({ waiting: [...state.waiting, queued], problem: undefined });
  await set(OUTBOX, state.waiting).catch(() => undefined);
  await send(client, queued);
}

/** Sends again what was waiting when the app ended. */
async function resume(client: ApolloClient): Promise<void> {
  const stored = (await get<QueuedWrite[]>(OUTBOX).catch(() => undefined)) ?? [];
  change({ waiting: stored });
  for (const write of stored) void send(client, write);
}

async function send(client: ApolloClient, { key, title, variables }: QueuedWrite): Promise<void> {
  let problem: string | undefined;
  try {
    await client.mutate<CollectMutation, CollectMutationVariables>({
      mutation: CollectDocument,
      variables,
      context: { headers: { 'Idempotency-Key': key } },
      optimisticResponse: expected(client.cache, title, variables),
      update: (cache, { data }) => showOnShelf(cache, data, variables.book),
    });
  } catch (error) {
    const [first] = CombinedGraphQLErrors.is(error) ? Object.values(fieldErrors(error.errors)) : [];
    problem = `${title}: ${first ?? (error as Error).message}`;
  }
  change({ waiting: state.waiting.filter((each) => each.key !== key), problem: problem ?? state.problem });
  await set(OUTBOX, state.waiting).catch(() => undefined);
}

/** Holds mutations in their order until each is confirmed or rejected; meanwhile Apollo Client shows the expected result. */
const link = new ApolloLink((operation, forward) =>
  operation.operationType === 'mutation'
    ? from(inTurn(() => untilAnswered(() => firstValueFrom(forward(operation)))))
    : forward(operation),
);

let turn: Promise<unknown> = Promise.resolve();

function inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
  const result = turn.then(act);
  turn = result.catch(() => undefined);
  return result;
}

async function untilAnswered(attempt: () => Promise<ApolloLink.Result>): Promise<ApolloLink.Result> {
  for (;;) {
    try {
      const result = await attempt();
      if (!isOutage(result.errors)) return result;
    } catch (error) {
      if (isRejection(error)) throw error;
    }
    await Promise.race([
      new Promise((resolve) => setTimeout(resolve, AGAIN_MS)),
      new Promise((resolve) => window.addEventListener('online', resolve, { once: true })),
    ]);
  }
}

/** A 4xx answer. Anything else, such as a lost connection or a 5xx, says nothing about the write. */
const isRejection = (error: unknown): boolean =>
  (ServerError.is(error) || ServerParseError.is(error)) && error.statusCode < 500 && error.statusCode !== 429;

export const outbox = {
  link,
  add,
  resume,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  read: () => state,
};
