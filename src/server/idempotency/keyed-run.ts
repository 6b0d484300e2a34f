/**
 * Runs mutations that have an idempotency key: the first request runs, one that comes meanwhile waits for it, a later one gets the same
 * response. Where the outcome of a write is unknown, the next request goes on where the last one ended.
 */
import { type ExecutionResult, OperationTypeNode } from 'graphql';
import type { Config } from '../../config/settings.ts';
import type { ClientCode } from '../../graph/errors/codes.ts';
import { type UpstreamClient, bearerOf } from '../../upstream/client.ts';
import { HttpError, addHelpLinks } from '../http/response/http-error.ts';
import type { Outcome } from '../graphql/outcome.ts';
import type { Pipeline, RunKeyed } from '../graphql/pipeline.ts';
import type { ExecutableDocument } from '../graphql/documents/prepare.ts';
import type { OperationRequest } from '../graphql/request.ts';
import { includesFiles, hashFiles } from './files.ts';
import { type JournalEntry, createJournal } from './journal.ts';
import { keptText, readKept } from './kept-response.ts';
import { type KeyIdentity, identify, readKey } from './key.ts';
import { createMemoryStore } from './memory-store.ts';
import { unlessCancelled } from './pause.ts';
import { withKeyPrice } from './price.ts';
import { createRedisStore } from './redis-store.ts';
import { KEPT_CHARACTERS_MAX, type Kept, type KeyStore } from './store.ts';

/** Longer than for the cache: without Redis a write with a key is not sent. */
const REDIS_TIMEOUT_MS = 1_000;
/** The move of a slot between nodes of a cluster takes seconds, and refuses what a key needs meanwhile. */
const PATIENCE_MS = 10_000;

export function createKeyedRunner(config: Config, upstream: UpstreamClient, pipeline: Pipeline): RunKeyed {
  const { idempotencyTtlSeconds, idempotencyQuietMs: quietMs, callTimeoutMs } = config;
  const ttlMs = 1_000 * idempotencyTtlSeconds;
  const redis = upstream.redisFor?.({
    what: 'idempotency keys',
    timeoutMs: REDIS_TIMEOUT_MS,
    patienceMs: PATIENCE_MS,
  });
  const store = redis ? createRedisStore(redis, ttlMs) : createMemoryStore(ttlMs);
  const settings = { quietMs, callTimeoutMs };

  return async (given, prepared, request, response) => {
    const { ready } = prepared;
    const token = bearerOf(request.authorization);
    const isMutation = ready?.operation.operation === OperationTypeNode.MUTATION;
    if (!isMutation || ttlMs === 0) return pipeline.run(prepared, request);
    const name = readKey(given);
    // Nothing is written without a token.
    if (token === null || request.explain === 'off') return pipeline.run(prepared, request);
    if (request.explain === 'plan') return withKeyPrice(await pipeline.run(prepared, request));
    const key = identify(name, token, ready, request.variables);
    let claim = await store.claim(key);
    while (claim?.kind === 'busy') {
      await untilChanged(store, key, request);
      claim = await store.claim(key);
    }
    if (claim?.kind === 'replay') {
      const outcome = await replay(claim.response, ready, request);
      response.headers.push('idempotency-replayed', 'true');
      return outcome;
    }
    if (claim?.kind !== 'run') throw refusalOf(claim);
    const journal = createJournal(key, store, settings, entriesIn(claim.journal), claim.person);
    let result: ExecutionResult | undefined;
    try {
      const outcome = await pipeline.run(prepared, request, journal);
      result = outcome.result as ExecutionResult;
      addHelpLinks(result.errors);
      return outcome;
    } finally {
      await store.end(key, keptOf(journal.entries(), result), journal.person());
    }
  };
}

const entriesIn = (text: string | undefined): (JournalEntry | undefined)[] =>
  // JSON has null for a write that was not sent.
  text === undefined ? [] : (JSON.parse(text) as (JournalEntry | null)[]).map((entry) => entry ?? undefined);

async function untilChanged(store: KeyStore, key: KeyIdentity, { cancellation }: OperationRequest): Promise<void> {
  await unlessCancelled(store.changed(key), cancellation);
  if (cancellation.reason)
    throw refused(409, 'IDEMPOTENCY_KEY_IN_USE', 'Another request with this idempotency key still runs.', '1');
}

function refusalOf(claim: { kind: 'reused' | 'forgotten' | 'full' } | undefined): HttpError {
  switch (claim?.kind) {
    case undefined:
      return refused(503, 'IDEMPOTENCY_UNAVAILABLE', 'The store of idempotency keys cannot be reached.', '1');
    case 'reused':
      return reused();
    case 'forgotten':
      return refused(409, 'IDEMPOTENCY_KEY_UNKNOWN', 'The key was used, and what came of it is no longer kept.');
    case 'full':
      return refused(429, 'TOO_MANY_IDEMPOTENCY_KEYS', 'Too many idempotency keys are in use.', '60');
  }
}

const refused = (status: number, code: ClientCode, message: string, seconds?: string): HttpError =>
  new HttpError(status, code, message, seconds === undefined ? {} : { 'retry-after': seconds }, true);

const reused = (): HttpError =>
  refused(
    422,
    'IDEMPOTENCY_KEY_REUSED',
    'The idempotency key belongs to another request: other document, variables or files.',
  );

async function replay(text: string, ready: ExecutableDocument, { variables }: OperationRequest): Promise<Outcome> {
  const { outcome, files } = readKept(text, ready);
  if (files.length > 0 && !includesFiles(await hashFiles(variables), files)) throw reused();
  return outcome;
}

/** Errors that another attempt may not meet: then only the writes are kept, and the next request reads the rest. */
const passing: ReadonlySet<unknown> = new Set<ClientCode>([
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_INVALID_RESPONSE',
  'UPSTREAM_RESULT_UNKNOWN',
  'RATE_LIMITED',
  'UNAUTHENTICATED',
  'IDEMPOTENCY_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
]);

function keptOf(entries: readonly (JournalEntry | undefined)[], result: ExecutionResult | undefined): Kept {
  let isSent = false;
  let isUnfinished = !result || result.errors?.some(({ extensions }) => passing.has(extensions.code));
  const files: string[] = [];
  for (const entry of entries) {
    if (!entry) continue;
    isSent = true;
    isUnfinished ||= entry.state === 'sending';
    if (entry.files) files.push(...entry.files.hashes);
  }
  if (!isSent) return { kind: 'nothing' };
  const text = isUnfinished ? JSON.stringify(entries) : keptText(result!, files);
  if (text.length > KEPT_CHARACTERS_MAX) return { kind: 'mark' };
  return { kind: isUnfinished ? 'journal' : 'response', text };
}
