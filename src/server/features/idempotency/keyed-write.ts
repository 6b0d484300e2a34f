/** One write with a key, in its turn: remembered, found by reading, or sent. */
import { GraphQLError } from 'graphql';
import type { ErrorTable } from '../../../api/service-descriptor.ts';
import {
  UpstreamFailure,
  UpstreamRejection,
  isRateLimit,
  isTokenRejection,
  provesNothingMade,
} from '../../../upstream/errors.ts';
import type { GuardedWrite, ReadBack, ReadRecord, WriteRule } from '../../../upstream/write-guard.ts';
import { HttpError } from '../../http/response/http-error.ts';
import type { Take } from './callers.ts';
import { compareFiles, noFiles, watchParts } from './files.ts';
import { type Entries, type JournalEntry, createdId, journalText } from './journal-entry.ts';
import { inProgress, notKept, outcomeUnknown, tooManyKeys, unavailable } from './refusals.ts';
import { type TargetEvent, addEvent, noteChangeAt, removeEvent } from './store/entries.ts';
import type { KeyRun } from './store/key-run.ts';
import type { KeyStore } from './store/key-store.ts';
import { personIn, targetsOf } from './store/names.ts';
import type { Turn } from './store/turns.ts';

export interface SettleTimes {
  /** How long the service may go on with a request whose connection is gone. */
  settleMs: number;
  /** The longest attempt of a write, and what is added to it for files. */
  callTimeoutMs: number;
  uploadTimeoutMs: number;
}

/** What the writes of a request have in common. */
export interface KeyedRequest {
  readonly run: KeyRun;
  readonly store: KeyStore;
  readonly times: SettleTimes;
  /** For the turn of a target. */
  readonly take: Take;
  /** What the codes of the service mean. */
  readonly errors: ErrorTable;
}

export interface KeyedWrite extends KeyedRequest {
  readonly journal: Entries;
  readonly write: GuardedWrite;
  readonly at: string;
  readonly request: string;
  /** Called when it is about to be sent: from here on it does not end with its operation. */
  readonly onSent: () => void;
}

/** A write that has its turn. */
interface TurnOfWrite extends KeyedWrite {
  /** The name of this write among all to its target. */
  readonly name: string;
  readonly turn: Turn;
  /** What is known of it at the end of the turn. */
  end?: Parameters<Turn['leave']>[0];
}

/** A process that was paused since it has recorded a write does not send it: others may count it as over. */
const BEGUN_WITHIN_MS = 1_000;
/** The reply to the record may come so much later than the time of the record, which may be a little wrong. */
const RECORDED_WITHIN_MS = 1_500;
/** Creations of unknown outcome at one target. */
const OPEN_MAX = 20;

export async function settleWrite(keyed: KeyedWrite): Promise<unknown> {
  const { journal, at, write, run, store, take } = keyed;
  const recorded = journal.get(at);
  if (recorded && recorded.state !== 'sending') return remembered(keyed, recorded);
  const targets = targetsOf(run.owners, write.rule.target(write.input));
  const turn = await take(
    `target ${targets[0]}`,
    (waiting) => store.takeTurn(targets, waiting),
    (taken) => taken.leave(),
  );
  const own: TurnOfWrite = { ...keyed, name: `${run.id} ${at}`, turn };
  try {
    return recorded ? await resume(own, recorded) : await send(own, await firstEntry(own));
  } finally {
    turn.leave(own.end);
  }
}

async function remembered({ write, errors }: KeyedWrite, recorded: JournalEntry): Promise<unknown> {
  const { state, files, isCut, value, details } = recorded;
  await compareFiles(write.files, files);
  if (state === 'rejected') throw new UpstreamRejection({ ...details!, row: errors[details!.code ?? NaN] });
  if (isCut) throw notKept();
  return value;
}

async function firstEntry(own: TurnOfWrite): Promise<JournalEntry> {
  const { at, request, write } = own;
  const { rule, input, known, kept } = write;
  const read: ReadRecord = (endpoint, of) =>
    endpoint === known?.endpoint ? Promise.resolve(known.record as never) : write.read(endpoint, of);
  // Without it the write is sent, and a lost response cannot be settled.
  const before = await rule.before?.(input, { read, person: personOf(own) }).catch(() => undefined);
  return { at, request, state: 'sending', before, ...(kept && { kept }), ...(write.files && { files: noFiles() }) };
}

/** This process may be new, and another one has seen whose token it is. */
const personOf = ({ run, write }: KeyedWrite): string | undefined => write.person() ?? personIn(run.owners);

/** An earlier request has sent it: what is there needs no waiting, and absence counts when nothing can come any more. */
async function resume(own: TurnOfWrite, recorded: JournalEntry): Promise<unknown> {
  const { store, write } = own;
  // The clock is read before the service: what is absent after this time stays absent.
  const now = await store.now();
  if (now === undefined) throw unavailable();
  const finding = await find(own, recorded);
  const leftMs = settledAt(own, recorded) - now;
  if (leftMs > 0 || finding.kind !== 'absent' || isOvertaken(own, recorded)) {
    await compareFiles(write.files, recorded.files);
    if (finding.kind === 'there') return done(own, recorded, finding.value, finding.id);
    throw unknownOutcome(own, undefined, leftMs);
  }
  const { sentAt: _, endedAt: __, ...fresh } = recorded;
  return send(own, { ...fresh, ...(write.files && { files: noFiles() }) }, recorded);
}

/** When nothing of it can come any more. */
const settledAt = (own: TurnOfWrite, entry: JournalEntry): number =>
  (entry.endedAt ?? sentAtOf(own, entry, Infinity) + longestMs(own)) + own.times.settleMs;

const sentAtOf = ({ run }: TurnOfWrite, { sentAt }: JournalEntry, unknown: number): number =>
  sentAt ?? run.savedAt ?? unknown;

/** How long an attempt may last, from its record on. */
const longestMs = ({ times: { callTimeoutMs, uploadTimeoutMs }, write }: TurnOfWrite): number =>
  RECORDED_WITHIN_MS + BEGUN_WITHIN_MS + callTimeoutMs + (write.files ? uploadTimeoutMs : 0);

/** Somebody else has written to the target since: then its old state is no proof, and must not be written over. */
function isOvertaken(own: TurnOfWrite, recorded: JournalEntry): boolean {
  const { rule } = own.write;
  const { events, changedAt } = own.turn;
  const sentAt = sentAtOf(own, recorded, 0);
  if (changedAt >= sentAt) return true;
  const since = events.filter(({ at }) => at >= sentAt);
  // Of a list, only a deletion can hide what was created.
  if (isOfList(rule)) return since.some(({ name, id }) => name === undefined && id === undefined);
  return since.some(({ name }) => name !== own.name) || !events.some(({ name }) => name === own.name);
}

/** It adds to a list; otherwise it writes to a record, or makes one that there can be once. */
const isOfList = ({ creates, doneOn }: WriteRule): boolean => creates === true && !doneOn;

/** `again`: the entry of an earlier attempt, which was certainly not carried out. */
async function send(own: TurnOfWrite, entry: JournalEntry, again?: JournalEntry): Promise<unknown> {
  const { journal, at, write, store, onSent } = own;
  if (write.cancellation.reason) throw inProgress();
  journal.set(at, entry);
  const sentAt = await record(own);
  const recorded = { byClock: Date.now(), byProcess: performance.now() };
  if (sentAt === undefined || write.cancellation.reason) {
    restore(own, again);
    throw sentAt === undefined ? unavailable() : inProgress();
  }
  onSent();
  entry.sentAt = sentAt;
  // A frozen machine may stop the one clock, and a correction may set back the other.
  const isWithin = (ms: number) => performance.now() - recorded.byProcess <= ms && Date.now() - recorded.byClock <= ms;
  let hasBegun = false;
  const mayBegin = () => (hasBegun = isWithin(BEGUN_WITHIN_MS));
  const parts = write.files && watchParts(write.files, entry.files!, again?.files, () => isWithin(longestMs(own)));
  let value: unknown;
  try {
    value = await write.send(parts, mayBegin);
  } catch (error) {
    // Errors of files cut the form before its end, which makes it no request.
    const isOfFiles = error instanceof GraphQLError || error instanceof HttpError;
    const isUnsent = !hasBegun && !(error instanceof UpstreamFailure);
    if (isOfFiles || isUnsent || provesNothingMade(error)) return notMade(own, entry, error, again);
    entry.endedAt = await store.now();
    const finding = await find(own, entry);
    if (finding.kind === 'there') return done(own, entry, finding.value, finding.id);
    throw unknownOutcome(own, error, settledAt(own, entry) - (entry.endedAt ?? entry.sentAt));
  }
  // Not in the try: what fails after the service has carried it out must not count as not sent.
  return done(own, entry, value, createdId(value));
}

/** Records that it is about to be sent. */
function record(own: TurnOfWrite): ReturnType<KeyRun['save']> {
  const { run, journal, write, turn, name, request, times } = own;
  const { rule, input } = write;
  const isOpen = (each: TargetEvent) => each.name !== name && (each.until ?? 0) > turn.now;
  if (rule.creates && turn.events.filter(isOpen).length >= OPEN_MAX) throw tooManyKeys();
  // A lost creation whose item is deleted is not to be made again, also if this process dies right after the deletion.
  const from = rule.removesFrom?.(input);
  return run.save({
    journal: () => journalText(journal.values()),
    turn,
    event: { name, ...(rule.creates && { input: request }) },
    openMs: rule.creates && longestMs(own) + times.settleMs,
    removedFrom: from === undefined ? [] : targetsOf(run.owners, from),
  });
}

function restore({ journal, at }: TurnOfWrite, again: JournalEntry | undefined): void {
  if (again) journal.set(at, again);
  else journal.delete(at);
}

async function find(own: TurnOfWrite, entry: JournalEntry): Promise<ReadBack> {
  const { rule, read, input } = own.write;
  const { events, changedAt } = own.turn;
  if (!rule.find) return rule.isRepeatable ? { kind: 'absent' } : unknown;
  // What this one created is not another's: a process may die after the turn, before the end of the run is recorded.
  const others = events.filter(({ name }) => name !== own.name);
  const { before, files } = entry;
  const ids = others.flatMap(({ id }) => id ?? []);
  const lost = { read, person: personOf(own), before, others: ids, fileNames: files?.names };
  const finding = await rule.find(input, lost).catch(() => unknown);
  if (finding.kind !== 'there' || !rule.creates) return finding;
  // It may be what another equal write created, which came after this one looked at what was there before.
  const sentAt = sentAtOf(own, entry, 0);
  const isAmbiguous = others.some(({ until = 0, input: equal }) => equal === own.request && until > sentAt);
  return isAmbiguous || (isOfList(rule) && changedAt >= sentAt) ? unknown : finding;
}

const unknown: ReadBack = Object.freeze({ kind: 'unknown' });
const shownByCode: ReadBack = Object.freeze({ kind: 'there', value: {} });

function done(own: TurnOfWrite, entry: JournalEntry, value: unknown, id: string | undefined): unknown {
  const { name, write } = own;
  entry.state = 'done';
  entry.value = value;
  own.end = (target, now) => {
    removeEvent(target, name);
    if (!write.rule.creates) noteChangeAt(target, now);
    else if (id !== undefined) addEvent(target, { at: now, name, id });
  };
  return value;
}

/** The service rejected it, or it was never sent. */
async function notMade(own: TurnOfWrite, entry: JournalEntry, error: unknown, again?: JournalEntry): Promise<unknown> {
  const { journal, at, request, write, name } = own;
  const { files, kept } = entry;
  const rejection = error instanceof UpstreamRejection ? error.details : undefined;
  if (again && rejection?.code !== undefined && write.rule.doneOn?.includes(rejection.code)) {
    const finding = write.rule.find ? await find(own, entry) : shownByCode;
    if (finding.kind === 'there') return done(own, entry, finding.value, finding.id);
    throw unknownOutcome(own, error, 0);
  }
  const isFinal = rejection && !isTokenRejection(rejection) && !isRateLimit(rejection);
  // The row is looked up again: tables change with the version.
  if (isFinal)
    journal.set(at, { at, request, state: 'rejected', details: { ...rejection, row: undefined }, files, kept });
  else restore(own, again);
  if (isFinal || !again) own.end = (target) => removeEvent(target, name);
  throw error;
}

function unknownOutcome({ write }: TurnOfWrite, cause: unknown, leftMs: number): UpstreamFailure {
  const { endpoint, rule, input } = write;
  const { method, path, service } = endpoint;
  const details = cause instanceof UpstreamFailure ? cause.details : { service, request: `${method} ${path}` };
  const seconds = leftMs > 0 && leftMs < Infinity ? Math.ceil(leftMs / 1_000) : undefined;
  return outcomeUnknown(details, rule.lookAt(input), seconds, cause);
}
