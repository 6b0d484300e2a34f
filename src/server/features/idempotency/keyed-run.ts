/**
 * Runs mutations that have an idempotency key: the first request runs, one that comes meanwhile waits for it, a later one gets the same
 * response. If the outcome of a write is unknown, the next request continues where the last one ended.
 */
import { type ExecutionResult, OperationTypeNode } from 'graphql';
import type { Config } from '../../../config/settings.ts';
import { type ClientCode, notesOn } from '../../../engine/errors/codes.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import { type UpstreamClient, bearerOf } from '../../../upstream/client.ts';
import type { ChannelOptions } from '../../../upstream/redis/connection/channel.ts';
import { serviceName } from '../../../upstream/redis/keys.ts';
import type { TakeTurn } from '../../../upstream/record-turns.ts';
import type { UnguardedWrite } from '../../../upstream/write-guard.ts';
import type { Outcome } from '../../graphql/outcome.ts';
import type { RunOperation } from '../../graphql/pipeline.ts';
import { variablesLimit } from '../../../engine/documents/limits.ts';
import type { ExecutableDocument } from '../../../engine/documents/prepare.ts';
import type { OperationRequest } from '../../graphql/request.ts';
import { includesFiles, hashFiles } from './files.ts';
import { type Journal, createJournal } from './journal.ts';
import { createdId, journalText } from './journal-entry.ts';
import { keptText, readKept } from './kept-response.ts';
import { identify, readKey } from './key.ts';
import { withKeyPrice } from './price.ts';
import { forgotten, reused, tooManyKeys, tooManyWrites } from './refusals.ts';
import { type Kept, KEPT_CHARACTERS_MAX, addEvent, noteChangeAt } from './store/entries.ts';
import type { KeyRun } from './store/key-run.ts';
import { type KeyStore, createKeyStore, createMemoryStore } from './store/key-store.ts';
import { swapInRedis } from './store/redis-entries.ts';
import { createRemoteEntries } from './store/remote-entries.ts';
import { credentialOwner, personIn, personOwner, targetsOf } from './store/names.ts';
import { type Waiter, createCallers } from './callers.ts';

/** Longer than for the cache: without Redis a write with a key is not sent. */
const REDIS_TIMEOUT_MS = 1_000;
/** The move of a slot between nodes of a cluster takes seconds, and refuses what a key needs meanwhile. */
const PATIENCE_MS = 10_000;

/** How long it is remembered when the turn of a record ended. */
const TURNS_TTL_MS = 60_000;

export interface KeyedRunner {
  /** Runs a request with an idempotency key. Rejects with an HttpError for one that is not run. */
  run: RunOperation;
  /** Resolves when no write with a key is in flight, or a while later. */
  drain: (withinMs: number) => Promise<void>;
  /** Records a write that is sent without a key. */
  noteWrite: (write: UnguardedWrite) => void;
  /** The turn of a record among all processes that share the store. */
  takeTurn: TakeTurn;
}

type KeySettings = Pick<
  Config,
  | 'idempotencyTtlSeconds'
  | 'upstreamSettleMs'
  | 'callTimeoutMs'
  | 'uploadTimeoutMs'
  | 'operationTimeoutMs'
  | 'eventBaseUrl'
>;

export function createKeyedRunner(
  config: KeySettings,
  upstream: UpstreamClient,
  runOperation: RunOperation,
): KeyedRunner {
  const ttlMs = 1_000 * config.idempotencyTtlSeconds;
  const store = openStore(upstream, ttlMs, forKeys);
  const { upstreamSettleMs: settleMs, callTimeoutMs, uploadTimeoutMs } = config;
  const times = { settleMs, callTimeoutMs, uploadTimeoutMs };
  const callers = createCallers(config.operationTimeoutMs);
  const events = serviceName(config.eventBaseUrl!);
  /** The ends of runs whose clients have left. */
  const left = new Set<Promise<void>>();

  async function run(held: KeyRun, { waiter, credential, prepared, request }: Running): Promise<Outcome> {
    const { caller, cancellation } = waiter;
    if (callers.isBusy(caller)) {
      await held.end(keptBefore(held)); // others have begun since
      throw tooManyWrites();
    }
    const take = callers.takeFor(waiter);
    const journal = createJournal({ run: held, store, times, take, errors: upstream.service.errors });
    const end = callers.run(caller);
    let result: ExecutionResult | undefined;
    try {
      const outcome = await runOperation(prepared, request, journal);
      result = outcome.result as ExecutionResult;
      const refusal = journal.refusal();
      if (refusal && (refusal.code === 'IDEMPOTENCY_KEY_REUSED' || !journal.hasSent())) throw refusal;
      return outcome;
    } finally {
      const ended = finish().finally(end);
      // Nobody waits for it otherwise: only the write in flight goes on.
      if (cancellation.reason) {
        left.add(ended);
        void ended.finally(() => left.delete(ended)).catch(() => undefined);
      } else await ended;
    }

    async function finish(): Promise<void> {
      await journal.settled();
      await held.end(keptOf(journal, result));
      if (personIn(held.owners) !== undefined) return;
      const { person } = upstream.senderOf(bearerOf(request.authorization)!);
      if (person !== undefined) store.link(credential, person);
    }
  }

  return {
    async run(prepared, request) {
      const { ready } = prepared;
      const token = bearerOf(request.authorization);
      if (ready?.operation.operation !== OperationTypeNode.MUTATION || ttlMs === 0)
        return runOperation(prepared, request);
      const name = readKey(request.idempotencyKey);
      // Nothing is written without a token.
      if (token === null || request.explain === 'off') return runOperation(prepared, request);
      // What the variables cost is limited before anything is computed of them; the pipeline rejects them.
      if (request.variables && variablesLimit(request.variables)) return runOperation(prepared, request);
      if (request.explain === 'plan') return withKeyPrice(await runOperation(prepared, request));
      const { credential, person } = upstream.senderOf(token);
      const caller = person ?? credential;
      if (callers.isBusy(caller)) throw tooManyWrites();
      const waiter = { caller, cancellation: request.cancellation, parking: request.parking };
      const key = { credential, person, ...identify(name, ready, request.variables, events) };
      const claim = await callers.takeFor(waiter)(
        `key ${caller} ${key.key}`,
        (waiting) => store.claim(key, waiting),
        (taken) => taken.kind === 'run' && taken.run.end(keptBefore(taken.run)),
      );
      if (claim.kind === 'run') return run(claim.run, { waiter, credential, prepared, request });
      if (claim.kind !== 'replay') throw refusals[claim.kind]();
      return { ...(await replay(claim.response, ready, request)), isReplayed: true };
    },
    drain: async (withinMs) => void (await settlesWithin(withinMs, Promise.allSettled(left))),
    noteWrite: (write) => noteWrite(store, write),
    takeTurn: turnsIn(openStore(upstream, TURNS_TTL_MS, forTurns)),
  };
}

const turnsIn =
  (store: KeyStore): TakeTurn =>
  async (record, cancellation) => {
    const targets = targetsOf([`record ${record}`], 'turn');
    const turn = await store.takeTurn(targets, { cancellation, begin: () => undefined });
    return turn && { now: turn.now, endedAt: turn.changedAt, leave: () => turn.leave(noteChangeAt) };
  };

/** What was written without a key may have changed what a lost write with a key left. */
function noteWrite(store: KeyStore, { rule, input, credential, person, value }: UnguardedWrite): void {
  const owners = [credentialOwner(credential), ...(person === undefined ? [] : [personOwner(person)])] as const;
  const created = rule.creates && createdId(value);
  const removedFrom = rule.removesFrom?.(input);
  const targets = targetsOf(owners, rule.target(input));
  if (!rule.creates) void store.changeTargets(targets, noteChangeAt);
  // One that may have been created is not known by its id, and is no deletion.
  else if (created !== undefined) void store.changeTargets(targets, (each, at) => addEvent(each, { at, id: created }));
  if (removedFrom !== undefined)
    void store.changeTargets(targetsOf(owners, removedFrom), (each, at) => addEvent(each, { at }));
}

/** A refused client may retry after a second: a longer pause of Redis would refuse it again. */
const forBoth = { timeoutMs: REDIS_TIMEOUT_MS, longestPauseMs: 1_000 };
const forKeys = { ...forBoth, what: 'idempotency keys', patienceMs: PATIENCE_MS };
/** Without Redis a process has turns of its own, so a write does not wait for one that refuses. */
const forTurns = { ...forBoth, what: 'turns' };

function openStore(upstream: UpstreamClient, ttlMs: number, options: ChannelOptions): KeyStore {
  const redis = upstream.redisFor?.(options);
  if (!redis) return createMemoryStore(ttlMs);
  return createKeyStore(createRemoteEntries(ttlMs, swapInRedis(redis, ttlMs)), ttlMs);
}

interface Running {
  waiter: Waiter;
  credential: string;
  prepared: Parameters<RunOperation>[0];
  request: OperationRequest;
}

/** What is kept of a run that has not begun. */
const keptBefore = ({ journal }: KeyRun): Kept =>
  journal === undefined ? { kind: 'nothing' } : { kind: 'journal', text: journal };

const refusals = { reused, forgotten, full: tooManyKeys };

async function replay(text: string, ready: ExecutableDocument, { variables }: OperationRequest): Promise<Outcome> {
  const { outcome, files } = readKept(text, ready);
  if (files.length > 0 && !includesFiles(await hashFiles(variables), files)) throw reused();
  return outcome;
}

/** Clients are not told to retry these, but what is read beside a write may come without them. */
const defects: ReadonlySet<unknown> = new Set<ClientCode>(['UPSTREAM_INVALID_RESPONSE', 'INTERNAL_SERVER_ERROR']);

/** Errors that another attempt may not meet: then only the writes are kept, and the next request reads the rest. */
const isPassing = (code: unknown): boolean => defects.has(code) || (notesOn(String(code))?.retry ?? 'no') !== 'no';

function keptOf(journal: Journal, result: ExecutionResult | undefined): Kept {
  const entries = journal.entries();
  if (entries.length === 0) return { kind: 'nothing' };
  const isUnfinished =
    !result ||
    journal.refusal() !== undefined ||
    entries.some(({ state }) => state === 'sending') ||
    result.errors?.some(({ extensions }) => isPassing(extensions.code));
  if (isUnfinished) return { kind: 'journal', text: journalText(entries) };
  const text = keptText(
    result,
    entries.flatMap(({ files }) => files?.hashes ?? []),
  );
  return text.length > KEPT_CHARACTERS_MAX ? { kind: 'mark' } : { kind: 'response', text };
}
