/** One write with a key, in its turn: remembered, found by reading, or sent. */
import { GraphQLError } from 'graphql';
import {
  UpstreamFailure,
  UpstreamRejection,
  isRateLimit,
  isTokenRejection,
  provesNothingMade,
} from '../../../upstream/errors.ts';
import type { ReadBack, GuardedWrite } from '../../../upstream/write-guard.ts';
import { HttpError } from '../../http/response/http-error.ts';
import { compareFiles, noFiles, watchParts } from './files.ts';
import { type Entries, type JournalEntry, createdId, journalText } from './journal-entry.ts';
import { inProgress, notKept, outcomeUnknown, tooManyKeys, unavailable } from './refusals.ts';
import type { Wait } from './callers.ts';
import { type TargetState, REMEMBERED_CHANGES, freshState } from './store/entries.ts';
import type { KeyRun } from './store/key-run.ts';
import type { KeyStore } from './store/key-store.ts';
import { type Targets, personIn, targetsOf } from './store/names.ts';
import type { Turn } from './store/turns.ts';

export interface SettleTimes {
  /** How long the service may go on with a request whose connection is gone. */
  settleMs: number;
  /** The longest attempt of a write, and what is added to it for files. */
  callTimeoutMs: number;
  uploadTimeoutMs: number;
}

export interface KeyedWriteParts {
  run: KeyRun;
  store: KeyStore;
  times: SettleTimes;
  /** For the turn of a target. */
  waitFor: (target: string) => Wait;
  journal: Entries;
  write: GuardedWrite;
  at: string;
  request: string;
  onSent: () => void;
}

/** A process that was paused since it has recorded a write does not send it: others may count it as over. */
const BEGUN_WITHIN_MS = 1_000;
/** The reply to the record may come so much later than the time of the record, which may be a little wrong. */
const RECORDED_WITHIN_MS = 1_500;
const OPEN_MAX = 20;
const CREATED_MAX = 200;

export class KeyedWrite {
  /** From here on it does not end with its operation. */
  isSent = false;
  private readonly parts: KeyedWriteParts;
  /** The target as each owner names it. */
  private readonly targets: Targets;
  /** The name of this write among all to its target. */
  private readonly name: string;
  private state: TargetState = freshState;
  /** The write that was sent to the target before. */
  private previous: string | undefined;
  private turn!: Turn;
  /** What the clock of the store is ahead of that of this process. */
  private aheadMs = 0;

  constructor(parts: KeyedWriteParts) {
    const { run, write, at } = parts;
    this.parts = parts;
    this.targets = targetsOf(run.owners, write.rule.target(write.input));
    this.name = `${run.id} ${at}`;
  }

  async run(): Promise<unknown> {
    const { journal, at, write } = this.parts;
    const recorded = journal.get(at);
    if (recorded && recorded.state !== 'sending') await compareFiles(write.files, recorded.files);
    if (recorded?.state === 'done') {
      if (recorded.isCut) throw notKept();
      return recorded.value;
    }
    if (recorded?.state === 'rejected') throw new UpstreamRejection(recorded.details!);
    const leave = await this.takeTurn();
    try {
      return recorded ? await this.resume(recorded) : await this.send(await this.firstEntry());
    } finally {
      leave();
    }
  }

  private async takeTurn(): Promise<() => void> {
    const { store, waitFor } = this.parts;
    const waiting = waitFor(this.targets[0]);
    let turn: Turn | undefined;
    try {
      turn = await store.takeTurn(this.targets, waiting);
    } finally {
      await waiting.end()?.catch((error: unknown) => {
        turn?.leave(turn.state);
        throw error;
      });
    }
    if (!turn) throw waiting.cancellation.reason ? inProgress() : unavailable();
    this.turn = turn;
    this.state = turn.state;
    this.aheadMs = turn.now - performance.now();
    return () => turn.leave(this.state);
  }

  private async firstEntry(): Promise<JournalEntry> {
    const { at, request, write } = this.parts;
    const { rule, input, read } = write;
    // Without it the write is sent, and a lost response cannot be settled.
    const before = await rule.before?.(input, { read, person: this.person() }).catch(() => undefined);
    return { at, request, state: 'sending', before, ...(write.files && { files: noFiles() }) };
  }

  /** This process may be new, and another one has seen whose token it is. */
  private person(): string | undefined {
    const { run, write } = this.parts;
    return write.person() ?? personIn(run.owners);
  }

  /** An earlier request has sent it: what is there needs no waiting, and absence counts when nothing can come any more. */
  private async resume(recorded: JournalEntry): Promise<unknown> {
    const { store, write } = this.parts;
    // The clock is read before the service: what is absent after this time stays absent.
    const now = await store.now();
    if (now === undefined) throw unavailable();
    const finding = await this.find(recorded);
    const leftMs = this.settledAt(recorded) - now;
    if (leftMs > 0 || finding.kind !== 'absent' || this.isOvertaken(recorded)) {
      await compareFiles(write.files, recorded.files);
      if (finding.kind === 'there') return this.done(recorded, finding.value, finding.id);
      throw this.unknown(undefined, leftMs);
    }
    const { sentAt: _, endedAt: __, ...fresh } = recorded;
    return this.send({ ...fresh, ...(write.files && { files: noFiles() }) }, recorded);
  }

  /** When nothing of it can come any more. */
  private settledAt({ sentAt, endedAt }: JournalEntry): number {
    const { run, times } = this.parts;
    return (endedAt ?? (sentAt ?? run.savedAt ?? Infinity) + this.longestMs()) + times.settleMs;
  }

  /** Somebody else has written to the target since: then its old state is no proof, and must not be written over. */
  private isOvertaken({ sentAt = this.parts.run.savedAt ?? 0 }: JournalEntry): boolean {
    const { creates, doneOn } = this.parts.write.rule;
    const since = this.turn.changes.filter(({ at }) => at >= sentAt);
    // Of a list, only a deletion can hide what was created; it may be among those that are no longer remembered.
    if (since.length >= REMEMBERED_CHANGES || since.some(({ id }) => id === undefined)) return true;
    const isOfList = creates && !doneOn;
    return !isOfList && (this.state.last !== this.name || since.length > 0);
  }

  /** `again`: the entry of an earlier attempt, which was certainly not carried out. */
  private async send(entry: JournalEntry, again?: JournalEntry): Promise<unknown> {
    const { run, journal, at, write, onSent } = this.parts;
    if (write.cancellation.reason) throw inProgress();
    journal.set(at, entry);
    const state = this.opened();
    // A lost creation whose item is deleted is not to be made again, also if this process dies right after the deletion.
    const from = write.rule.removesFrom?.(write.input);
    const removedFrom = from === undefined ? [] : targetsOf(run.owners, from);
    const sentAt = await run.save(() => journalText(journal.values()), this.turn, state, removedFrom);
    const recorded = { byClock: Date.now(), byProcess: performance.now() };
    if (sentAt === undefined || write.cancellation.reason) {
      this.restore(again);
      throw sentAt === undefined ? unavailable() : inProgress();
    }
    this.previous = this.state.last;
    this.state = state;
    this.isSent = true;
    onSent();
    entry.sentAt = sentAt;
    // A frozen machine may stop the one clock, and a correction may set back the other.
    const isWithin = (ms: number) =>
      performance.now() - recorded.byProcess <= ms && Date.now() - recorded.byClock <= ms;
    let hasBegun = false;
    const mayBegin = () => (hasBegun = isWithin(BEGUN_WITHIN_MS));
    const parts = write.files && watchParts(write.files, entry.files!, again?.files, () => isWithin(this.longestMs()));
    let value: unknown;
    try {
      value = await write.send(parts, mayBegin);
    } catch (error) {
      // Errors of files cut the form before its end, which makes it no request.
      const isOfFiles = error instanceof GraphQLError || error instanceof HttpError;
      const isUnsent = !hasBegun && !(error instanceof UpstreamFailure);
      if (isOfFiles || isUnsent || provesNothingMade(error)) return await this.notMade(entry, error, again);
      entry.endedAt = await this.parts.store.now();
      const finding = await this.find(entry);
      if (finding.kind === 'there') return this.done(entry, finding.value, finding.id);
      throw this.unknown(error, this.settledAt(entry) - (entry.endedAt ?? entry.sentAt));
    }
    // Not in the try: what fails after the service has carried it out must not count as not sent.
    return this.done(entry, value, write.rule.creates ? createdId(value) : undefined);
  }

  private restore(again: JournalEntry | undefined): void {
    const { journal, at } = this.parts;
    if (again) journal.set(at, again);
    else journal.delete(at);
  }

  /** The state of the target when the write is about to be sent. */
  private opened(): TargetState {
    const { name } = this;
    const { write, times, request } = this.parts;
    if (!write.rule.creates) return { ...this.state, last: name };
    const now = performance.now() + this.aheadMs;
    const others = this.state.open.filter((each) => each.name !== name && each.until > now);
    if (others.length >= OPEN_MAX) throw tooManyKeys();
    return {
      ...this.state,
      last: name,
      open: [...others, { name, until: now + this.longestMs() + times.settleMs, input: request }],
    };
  }

  /** How long an attempt may last, from its record on. */
  private longestMs(): number {
    const { callTimeoutMs, uploadTimeoutMs } = this.parts.times;
    return RECORDED_WITHIN_MS + BEGUN_WITHIN_MS + callTimeoutMs + (this.parts.write.files ? uploadTimeoutMs : 0);
  }

  private async find(entry: JournalEntry): Promise<ReadBack> {
    const { write } = this.parts;
    const { rule, read, input } = write;
    if (!rule.find) return { kind: rule.isRepeatable ? 'absent' : 'unknown' };
    const { created, createdSince, open } = this.state;
    // What this one created is not another's: a process may die after the turn, before the end of the run is recorded.
    const keyed = created.filter(({ name }) => name !== this.name).map(({ id }) => id);
    const others = [...keyed, ...this.turn.changes.flatMap(({ id }) => id ?? [])];
    const { before, files } = entry;
    const lost = { read, person: this.person(), before, others, fileNames: files?.names };
    const finding = await rule.find(input, lost).catch((): ReadBack => ({ kind: 'unknown' }));
    if (finding.kind !== 'there' || !rule.creates) return finding;
    // It may be what another equal write created, which came after this one looked at what was there before.
    const sentAt = entry.sentAt ?? this.parts.run.savedAt ?? 0;
    const isAmbiguous = open.some(
      ({ name, until, input: equal }) => name !== this.name && equal === this.parts.request && until > sentAt,
    );
    const isForgotten = this.turn.changes.filter(({ at }) => at >= sentAt).length >= REMEMBERED_CHANGES;
    return isAmbiguous || isForgotten || createdSince > sentAt ? { kind: 'unknown' } : finding;
  }

  private done(entry: JournalEntry, value: unknown, id: string | undefined): unknown {
    entry.state = 'done';
    entry.value = value;
    this.close(id);
    return value;
  }

  /** The service rejected it, or it was never sent. */
  private async notMade(entry: JournalEntry, error: unknown, again: JournalEntry | undefined): Promise<unknown> {
    const { journal, at, request, write } = this.parts;
    const rejection = error instanceof UpstreamRejection ? error.details : undefined;
    this.state = { ...this.state, last: this.previous };
    if (again && rejection?.code !== undefined && write.rule.doneOn?.includes(rejection.code)) {
      const finding = write.rule.find ? await this.find(entry) : shownByCode;
      if (finding.kind === 'there') return this.done(entry, finding.value, finding.id);
      throw this.unknown(error, 0);
    }
    const isFinal = rejection && !isTokenRejection(rejection) && !isRateLimit(rejection);
    if (isFinal) journal.set(at, { at, request, state: 'rejected', details: rejection, files: entry.files });
    else this.restore(again);
    if (isFinal || !again) this.close(undefined);
    throw error;
  }

  /** Its outcome is known. */
  private close(id: string | undefined): void {
    if (!this.parts.write.rule.creates) return;
    const { open, created, createdSince } = this.state;
    const at = performance.now() + this.aheadMs;
    const all = id === undefined ? created : [...created, { name: this.name, id, at }];
    const forgotten = all.at(-CREATED_MAX - 1)?.at ?? createdSince;
    const left = open.filter(({ name }) => name !== this.name);
    this.state = { ...this.state, open: left, created: all.slice(-CREATED_MAX), createdSince: forgotten };
  }

  private unknown(cause: unknown, leftMs: number): UpstreamFailure {
    const { endpoint, rule, input } = this.parts.write;
    const { method, path, service } = endpoint;
    const details = cause instanceof UpstreamFailure ? cause.details : { service, request: `${method} ${path}` };
    const seconds = leftMs > 0 && leftMs < Infinity ? Math.ceil(leftMs / 1_000) : undefined;
    return outcomeUnknown(details, rule.lookAt(input), seconds, cause);
  }
}

const shownByCode: ReadBack = Object.freeze({ kind: 'there', value: {} });
