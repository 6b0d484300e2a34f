/** One write with a key: remembered, found by reading, or sent. */
import type { ErrorTable } from '../../../api/service-descriptor.ts';
import { BEGINS_WITHIN_MS } from '../../../config/fixed.ts';
import type { Config } from '../../../config/settings.ts';
import {
  UpstreamFailure,
  UpstreamRejection,
  isRateLimit,
  isTokenRejection,
  provesNothingMade,
} from '../../../upstream/errors.ts';
import type { GuardedWrite, ReadBack, ReadRecord } from '../../../upstream/write-guard.ts';
import { type Entries, type JournalEntry, MISSING } from './journal-entry.ts';
import type { IdempotencyKey } from './key.ts';
import { inProgress, outcomeUnknown, tooManyKeys, unavailable } from './refusals.ts';
import type { KeyStore } from './store/key-store.ts';

/** How long the service may go on with a request whose connection is gone, the longest attempt of a write, and what files add to it. */
export type SettleTimes = Pick<Config, 'upstreamSettleMs' | 'callTimeoutMs' | 'uploadTimeoutMs'>;

/** What the writes of a request have in common. */
export interface KeyedRequest {
  readonly key: IdempotencyKey;
  readonly times: SettleTimes;
  /** What the codes of the service mean. */
  readonly errors: ErrorTable;
  /** Stores the journal, as before a write is sent. */
  readonly record: () => ReturnType<KeyStore['save']>;
}

interface KeyedWrite extends KeyedRequest {
  readonly journal: Entries;
  readonly write: GuardedWrite;
  readonly at: string;
  readonly request: string;
  /** Called when it is about to be sent: from here on it does not end with its operation. */
  readonly onSent: () => void;
}

/** A process that was paused since it has recorded a write does not send it: others may count it as over. */
const BEGUN_WITHIN_MS = 1_000;

export async function settleWrite(keyed: KeyedWrite): Promise<unknown> {
  const { journal, at, errors } = keyed;
  const recorded = journal.get(at) ?? journal.get(MISSING);
  if (!recorded) return send(keyed, await firstEntry(keyed));
  const { state, details, value } = recorded;
  if (state === 'rejected') throw new UpstreamRejection({ ...details!, row: errors[details!.code ?? NaN] });
  return state === 'sending' ? resume(keyed, recorded) : value;
}

async function firstEntry({ at, request, write }: KeyedWrite): Promise<JournalEntry> {
  const { rule, input, known, kept } = write;
  const read: ReadRecord = (endpoint, of) =>
    endpoint === known?.endpoint ? Promise.resolve(known.record as never) : write.read(endpoint, of);
  // Without it the write is sent, and a lost response cannot be settled.
  const before = await rule.before?.(input, { read, person: write.person() }).catch(() => undefined);
  return { at, request, state: 'sending', before, ...(kept && { kept }) };
}

/** An earlier request has sent it: what is there needs no waiting, and absence counts when nothing can come any more. */
async function resume(keyed: KeyedWrite, recorded: JournalEntry): Promise<unknown> {
  // The clock is read before the service: what is absent after this time stays absent.
  const now = await keyed.record();
  if (typeof now !== 'number') throw unrecorded(now);
  const finding = await find(keyed, recorded);
  if (finding.kind === 'there')
    return done(keyed, { ...recorded, at: keyed.at, request: keyed.request }, finding.value);
  const leftMs = settledAt(keyed, recorded) - now;
  // What is not recorded may have been another input.
  if (leftMs > 0 || finding.kind === 'unknown' || recorded.at === MISSING)
    throw unknownOutcome(keyed, undefined, finding === unread ? Math.max(leftMs, 1) : leftMs);
  const { sentAt: _, endedAt: __, ...fresh } = recorded;
  return send(keyed, fresh, recorded);
}

/** When nothing of it can come any more. */
const settledAt = (keyed: KeyedWrite, { endedAt, sentAt = Infinity }: JournalEntry): number =>
  (endedAt ?? sentAt + longestMs(keyed)) + keyed.times.upstreamSettleMs;

/** How long an attempt may last, from its record on. */
const longestMs = ({ times: { callTimeoutMs, uploadTimeoutMs }, write }: KeyedWrite): number =>
  BEGINS_WITHIN_MS + callTimeoutMs + (write.files ? uploadTimeoutMs : 0);

/** `again`: the entry of an earlier attempt, which was certainly not carried out. */
async function send(keyed: KeyedWrite, entry: JournalEntry, again?: JournalEntry): Promise<unknown> {
  const { journal, at, write, record, onSent } = keyed;
  if (write.cancellation.reason) throw inProgress();
  journal.set(at, entry);
  const sentAt = await record();
  const recorded = { byClock: Date.now(), byProcess: performance.now() };
  if (typeof sentAt !== 'number' || write.cancellation.reason) {
    restore(keyed, again);
    throw typeof sentAt === 'number' ? inProgress() : unrecorded(sentAt);
  }
  onSent();
  const sent: JournalEntry = { ...entry, sentAt };
  journal.set(at, sent);
  // A frozen machine may stop the one clock, and a correction may set back the other.
  const isWithin = (ms: number) => performance.now() - recorded.byProcess <= ms && Date.now() - recorded.byClock <= ms;
  let hasBegun = false;
  const mayBegin = () => (hasBegun = isWithin(BEGUN_WITHIN_MS));
  const parts = write.files?.map((file) => ({
    ...file,
    bytes: sentWhile(() => isWithin(longestMs(keyed)), file.bytes),
  }));
  let value: unknown;
  try {
    value = await write.send(parts, mayBegin);
  } catch (error) {
    const isUnsent = !hasBegun && !(error instanceof UpstreamFailure);
    if (isUnsent || provesNothingMade(error)) return notMade(keyed, sent, error, again);
    const endedAt = await record();
    const lost: JournalEntry = { ...sent, ...(typeof endedAt === 'number' && { endedAt }) };
    journal.set(at, lost);
    const finding = await find(keyed, lost);
    if (finding.kind === 'there') return done(keyed, lost, finding.value);
    throw unknownOutcome(keyed, error, settledAt(keyed, lost) - (lost.endedAt ?? sentAt));
  }
  // Not in the try: what fails after the service has carried it out must not count as not sent.
  return done(keyed, sent, value);
}

/** Why nothing is sent whose journal was not stored. */
const unrecorded = (reply: 'lost' | 'full' | undefined) =>
  reply === 'full' ? tooManyKeys() : reply === 'lost' ? inProgress() : unavailable();

/** Cuts a form before its end, which makes it no request. */
function* sentWhile(mayGoOn: () => boolean, bytes: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
  for (const each of bytes) {
    if (!mayGoOn()) throw new Error('the write has taken too long');
    yield each;
  }
}

function restore({ journal, at }: KeyedWrite, again: JournalEntry | undefined): void {
  if (again) journal.set(at, again);
  else journal.delete(at);
}

async function find({ write }: KeyedWrite, { before }: JournalEntry): Promise<ReadBack> {
  const { rule, read, input, files } = write;
  if (!rule.find) return rule.isRepeatable ? { kind: 'absent' } : unknown;
  const lost = { read, person: write.person(), before, fileNames: files?.map(({ name }) => name) };
  return rule.find(input, lost).catch((error) => (error instanceof UpstreamFailure ? unread : unknown));
}

const unknown: ReadBack = Object.freeze({ kind: 'unknown' });
/** The service could not be read: it may be later. */
const unread: ReadBack = Object.freeze({ kind: 'unknown' });
const shownByCode: ReadBack = Object.freeze({ kind: 'there', value: {} });

function done({ journal, at }: KeyedWrite, entry: JournalEntry, value: unknown): unknown {
  journal.set(at, { ...entry, state: 'done', value });
  return value;
}

/** The service rejected it, or it was never sent. */
async function notMade(keyed: KeyedWrite, entry: JournalEntry, error: unknown, again?: JournalEntry): Promise<unknown> {
  const { journal, at, request, write } = keyed;
  const rejection = error instanceof UpstreamRejection ? error.details : undefined;
  if (again && rejection?.code !== undefined && write.rule.doneOn?.includes(rejection.code)) {
    const finding = write.rule.find ? await find(keyed, entry) : shownByCode;
    if (finding.kind === 'there') return done(keyed, entry, finding.value);
    throw unknownOutcome(keyed, error, 0);
  }
  // With another token it may be made. The row is looked up again: tables change with the version.
  if (rejection && rejection.status !== 403 && !isTokenRejection(rejection) && !isRateLimit(rejection))
    journal.set(at, { at, request, state: 'rejected', details: { ...rejection, row: undefined }, kept: entry.kept });
  else restore(keyed, again);
  throw error;
}

function unknownOutcome({ write }: KeyedWrite, cause: unknown, leftMs: number): UpstreamFailure {
  const { endpoint, rule, input } = write;
  const { method, path, service } = endpoint;
  const details = cause instanceof UpstreamFailure ? cause.details : { service, request: `${method} ${path}` };
  const seconds = leftMs > 0 && leftMs < Infinity ? Math.ceil(leftMs / 1_000) : undefined;
  return outcomeUnknown(details, rule.lookAt(input), seconds, cause);
}
