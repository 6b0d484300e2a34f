/**
 * Runs mutations that have an idempotency key: the first request runs, one that comes meanwhile gets IDEMPOTENCY_IN_PROGRESS, a later one gets the same
 * response. If the outcome of a write is unknown, the next request continues where the last one ended.
 */
import { randomUUID } from 'node:crypto';
import { type ExecutionResult, OperationTypeNode } from 'graphql';
import type { Config } from '../../../config/settings.ts';
import { variablesLimit } from '../../../engine/documents/limits.ts';
import { type ClientCode, notesOn } from '../../../engine/errors/codes.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import { bearerOf } from '../../../upstream/auth/request-context.ts';
import type { UpstreamClient } from '../../../upstream/client.ts';
import type { Outcome } from '../../graphql/outcome.ts';
import type { RunOperation } from '../../graphql/pipeline.ts';
import type { OperationRequest } from '../../graphql/request.ts';
import { createCallers } from './callers.ts';
import { type Journal, createJournal } from './journal.ts';
import { type Entries, MISSING, missingSince, readJournal } from './journal-entry.ts';
import { keptText, readKept } from './kept-response.ts';
import { type IdempotencyKey, identify, readKey } from './key.ts';
import type { SettleTimes } from './keyed-write.ts';
import { forgotten, inProgress, reused, tooManyKeys, unavailable, whose } from './refusals.ts';
import {
  type Claim,
  type FoundRow,
  type Held,
  type KeyStore,
  type Row,
  RENEWED_MS,
  TEXT_MAX,
  isSameSender,
} from './store/key-store.ts';
import { createMemoryStore } from './store/memory-store.ts';
import { createRedisStore } from './store/redis-store.ts';

type KeySettings = Pick<Config, 'idempotencyTtlSeconds'> & SettleTimes;

export type KeyedRunner = ReturnType<typeof createKeyedRunner>;

export function createKeyedRunner(config: KeySettings, upstream: UpstreamClient, runOperation: RunOperation) {
  const ttlMs = 1_000 * config.idempotencyTtlSeconds;
  const { keyConnection } = upstream;
  const store = keyConnection ? createRedisStore(keyConnection, ttlMs) : createMemoryStore(ttlMs);
  const run = { store, upstream, runOperation, times: config };
  const begin = createCallers();
  /** The ends of runs whose clients have left. */
  const left = new Set<Promise<void>>();

  return {
    /** Runs a request with an idempotency key. Rejects with an HttpError for one that is not run. */
    run: (async (prepared, request) => {
      const { ready } = prepared;
      const token = bearerOf(request.authorization);
      if (ready?.operation.operation !== OperationTypeNode.MUTATION || ttlMs === 0)
        return runOperation(prepared, request);
      const given = readKey(request.idempotencyKey);
      // Nothing is written without a token, nor planned only.
      if (token === null || request.explain === 'off' || request.explain === 'plan')
        return runOperation(prepared, request);
      // What the variables cost is limited before anything is computed of them; the pipeline rejects them.
      if (request.variables && variablesLimit(request.variables)) return runOperation(prepared, request);
      const key = identify(given, ready, request.variables);
      const keyed: KeyedRun = { ...run, prepared, request, key, sender: senderOf(upstream.senderOf(token), key) };
      const end = begin(keyed.sender.credential);
      const { kind, found } = await claim(keyed).catch((error: unknown) => {
        end();
        throw error;
      });
      if (kind === 'found') {
        end();
        const text = key.unseal(found!.text);
        if (text === undefined) throw forgotten();
        return { ...readKept(text, ready), isReplayed: true };
      }
      const releaseFiles = request.keepFiles?.();
      return runKeyed(keyed, found, (ended) => {
        left.add(ended);
        void ended.catch(() => undefined).then(() => (end(), releaseFiles?.(), left.delete(ended)));
      });
    }) satisfies RunOperation,
    /** Resolves when no write with a key is in flight, or a while later. */
    drain: async (withinMs: number) => void (await settlesWithin(withinMs, Promise.allSettled(left))),
  };
}

interface KeyedRun {
  readonly store: KeyStore;
  readonly upstream: UpstreamClient;
  readonly runOperation: RunOperation;
  readonly times: SettleTimes;
  readonly prepared: Parameters<RunOperation>[0];
  readonly request: OperationRequest;
  readonly key: IdempotencyKey;
  readonly sender: ReturnType<typeof senderOf>;
}

/** Who sends a request, as far as that is known now. */
function senderOf(sender: ReturnType<UpstreamClient['senderOf']>, { name, fingerprint, hash }: IdempotencyKey) {
  const holder = randomUUID();
  const token = hash(`token ${sender.id}`);
  return {
    credential: sender.id,
    held: (): Held => ({ name, holder, account: { name: sender.id, isNew: !sender.accepted } }),
    /** `person`: of an earlier request, if this process does not know it. */
    row(state: Row['state'] = 'claimed', text = '', person = ''): Row {
      return { fingerprint, token, person: sender.person ? hash(`person ${sender.person.id}`) : person, state, text };
    },
  };
}

/** Takes the lock of the key, or finds what is kept of it. Throws the reason why the request is not run. */
async function claim({ store, sender }: KeyedRun): Promise<Claim> {
  const row = sender.row();
  const claimed = await store.claim(sender.held(), row);
  if (!claimed) throw unavailable();
  const { kind, found } = claimed;
  if (kind === 'full') throw tooManyKeys();
  if (kind === 'held') throw inProgress();
  if (kind === 'locked') return claimed;
  if (found!.fingerprint !== row.fingerprint) throw reused();
  if (isSameSender(found!, row)) return claimed;
  throw found!.person !== '' && row.person !== '' ? reused() : whose();
}

/** `onEnd` gets the end of the run, for which a client that has left does not wait. */
async function runKeyed(
  keyed: KeyedRun,
  found: FoundRow | undefined,
  onEnd: (ended: Promise<void>) => void,
): Promise<Outcome> {
  const { store, key, request, prepared, runOperation, upstream, times, sender } = keyed;
  const text = found && key.unseal(found.text);
  const entries = readJournal(text, found?.savedAt);
  // A journal that was not kept, or of before a restore, may lack writes.
  if (found && (found.isUncertain || (found.state === 'sending' && text === undefined)))
    entries.set(MISSING, missingSince(found.savedAt));
  const rowOf = (state: Row['state'], kept: string): Row => {
    const made = key.seal(kept);
    return sender.row(state, made.length > TEXT_MAX ? '' : made, found?.person);
  };
  const journalRow = () => rowOf('sending', JSON.stringify([...entries.values()]));
  let row = entries.size > 0 ? journalRow() : sender.row();
  let saved: ReturnType<KeyStore['save']> = Promise.resolve(undefined);
  // One after the other: an older row never replaces a newer one.
  const save = (next?: Row) => (saved = saved.then(() => store.save(sender.held(), next ? (row = next) : row)));
  const renewal = setInterval(() => void save(), RENEWED_MS).unref();
  const { errors } = upstream.service;
  const journal = createJournal({ key, times, errors, record: () => save(journalRow()) }, entries);
  let result: ExecutionResult | undefined;
  async function finish(): Promise<void> {
    await journal.settled();
    clearInterval(renewal);
    await saved;
    const kept = responseOf(journal, entries, result);
    if (kept !== undefined) await store.end(sender.held(), rowOf('done', kept));
    // Without an entry certainly nothing was written.
    else await store.end(sender.held(), entries.size > 0 ? journalRow() : undefined);
  }
  try {
    const outcome = await runOperation(prepared, request, journal);
    result = outcome.result as ExecutionResult;
    const refusal = journal.refusal();
    if (refusal && (refusal.code === 'IDEMPOTENCY_KEY_REUSED' || !journal.hasSent())) throw refusal;
    return outcome;
  } finally {
    const ended = finish();
    onEnd(ended);
    // Nobody waits for it otherwise: only the write in flight goes on.
    if (!request.cancellation.reason) await ended;
  }
}

/** Clients need not retry these, but what is read beside a write may come without them. */
const defects: ReadonlySet<unknown> = new Set<ClientCode>(['UPSTREAM_INVALID_RESPONSE', 'INTERNAL_SERVER_ERROR']);

/** Errors that another attempt may not meet: then only the writes are kept, and the next request reads the rest. */
const isPassing = (code: unknown): boolean => defects.has(code) || (notesOn(String(code))?.retry ?? 'no') !== 'no';

/** The response to keep; undefined if nothing was written, or a write or a read is still to be made. */
function responseOf(journal: Journal, entries: Entries, result: ExecutionResult | undefined): string | undefined {
  const isUnfinished =
    entries.size === 0 ||
    !result ||
    journal.refusal() !== undefined ||
    [...entries.values()].some(({ at, state }) => at !== MISSING && state === 'sending') ||
    result.errors?.some(({ extensions }) => isPassing(extensions.code));
  return isUnfinished ? undefined : keptText(result);
}
