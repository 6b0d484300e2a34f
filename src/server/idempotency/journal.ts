/**
 * The writes of one operation with a key, in their order. Each is recorded before it is sent, so that another request with the key, in
 * whatever process, knows what may have been carried out: it remembers, reads back, or sends.
 */
import { GraphQLError } from 'graphql';
import {
  type UpstreamErrorDetails,
  UpstreamFailure,
  UpstreamRejection,
  isOutcomeUnknown,
  isRateLimit,
  isTokenRejection,
} from '../../upstream/errors.ts';
import type { GuardedWrite, WriteGuard } from '../../upstream/write-guard.ts';
import { type FilesRead, watchParts } from './files.ts';
import { type KeyIdentity, hashOf } from './key.ts';
import type { Before, ReadBack, WriteRule } from './rules/rule.ts';
import { writeRuleOf } from './rules/write-rules.ts';
import { type Settings, lookFor } from './settle.ts';
import { type KeyStore, type ThingState, freshState } from './store.ts';

/** What is known of one write. */
export interface JournalEntry {
  /** `sending`: it may have been carried out. */
  state: 'sending' | 'done' | 'rejected';
  /** By the clock of the process that sent it. */
  sentAt: number;
  before?: Before | undefined;
  /** The files that were sent to their end. */
  files?: FilesRead | undefined;
  value?: unknown;
  details?: UpstreamErrorDetails;
}

export interface Journal extends WriteGuard {
  /** Undefined for a write that was not sent. */
  entries: () => readonly (JournalEntry | undefined)[];
  /** Whose token it is, as far as a write has shown it. */
  person: () => string | undefined;
}

/** `recorded`: by earlier runs with the key. `known`: whose token it is. */
export function createJournal(
  key: KeyIdentity,
  store: KeyStore,
  settings: Settings,
  recorded: readonly (JournalEntry | undefined)[],
  known: string | undefined,
): Journal {
  const entries = [...recorded];
  let count = 0;
  let person = known;
  return {
    entries: () => entries,
    person: () => person,
    write(write) {
      const whose = () => (person = write.person() ?? person);
      return new KeyedWrite({ key, store, settings, entries, at: count++, write, whose }).run();
    },
  };
}

interface KeyedWriteParts {
  key: KeyIdentity;
  store: KeyStore;
  settings: Settings;
  entries: (JournalEntry | undefined)[];
  at: number;
  write: GuardedWrite;
  /** The person, if anything has shown whose token it is. */
  whose: () => string | undefined;
}

/** One write, in its turn. */
class KeyedWrite {
  private readonly parts: KeyedWriteParts;
  private readonly rule: WriteRule<object>;
  private readonly thing: string;
  private readonly name: string;
  private readonly input: string;
  /** What is known of the thing: before this write, and now. */
  private known = freshState;
  private state = freshState;

  constructor(parts: KeyedWriteParts) {
    const { key, at, write } = parts;
    this.parts = parts;
    this.rule = writeRuleOf(write.endpoint);
    this.thing = `${this.rule.thing(write.input)} of ${key.token}`;
    this.name = `${key.fingerprint}:${at}`;
    this.input = this.rule.creates ? hashOf(`${this.thing} ${JSON.stringify(write.input)}`) : '';
  }

  async run(): Promise<unknown> {
    const { store, entries, at, write, whose } = this.parts;
    const inherited = entries[at];
    if (inherited?.state === 'done') return inherited.value;
    if (inherited?.state === 'rejected') throw new UpstreamRejection(inherited.details!);
    const turn = await store.takeTurn(this.thing, write.cancellation);
    if (!turn) throw unavailable();
    this.known = this.state = turn.state;
    try {
      if (!inherited) return await this.send();
      const isOvertaken = this.state.last !== this.name;
      const finding = await this.find(inherited, isOvertaken, true);
      if (finding.kind === 'done') return this.settled(inherited, finding);
      if (finding.kind === 'absent') return await this.send(inherited);
      throw this.stillUnknown();
    } finally {
      turn.leave(this.state);
      whose();
    }
  }

  /** Sends it for the first time, or again if `again` was certainly not carried out. */
  private async send(again?: JournalEntry): Promise<unknown> {
    const { key, store, entries, at, write } = this.parts;
    const { rule } = this;
    const before = again || !rule.before ? again?.before : await this.readBefore();
    const entry: JournalEntry = { state: 'sending', sentAt: Date.now(), before };
    if (write.files) entry.files = { names: [], hashes: [] };
    const { files } = entry;
    const recorded = entries[at];
    entries[at] = entry;
    const state = this.opened(entry.sentAt);
    if (!(await store.save(key, () => JSON.stringify(entries), this.thing, state))) {
      entries[at] = recorded;
      throw unavailable();
    }
    this.state = state;
    let value: unknown;
    try {
      value = await write.send(write.files && files && watchParts(write.files, files));
    } catch (error) {
      if (!isOutcomeUnknown(error)) return this.failed(entry, error, again);
      const finding = await this.find(entry, false, false);
      if (finding.kind === 'done') return this.settled(entry, finding);
      // The files of this request are gone: the next request with the key brings them again.
      if (finding.kind === 'absent' && !again && !write.files) return this.send(entry);
      throw this.stillUnknown(error);
    }
    // Not in the try: what fails after the service has carried it out must not count as not sent.
    return this.settled(entry, { kind: 'done', value, ...idIn(value) });

    function idIn(answer: unknown): { id?: string } {
      const { id } = (answer ?? {}) as { id?: unknown };
      return rule.creates && (typeof id === 'string' || typeof id === 'number') ? { id: String(id) } : {};
    }
  }

  /** What is known of the thing when it is about to be sent. */
  private opened(sentAt: number): ThingState {
    const { name, input } = this;
    const { open, created } = this.state;
    if (!this.rule.creates) return { last: name, open, created };
    const others = open.filter((each) => each.name !== name);
    // What only the end of the list is kept of is old enough.
    return { last: name, open: [...others, { name, at: sentAt, input }].slice(-OPEN_MAX), created };
  }

  private async readBefore(): Promise<Before | undefined> {
    const { write, whose } = this.parts;
    try {
      return await this.rule.before?.(write.input, { read: write.read, person: whose() });
    } catch {
      return undefined; // then it is sent, and a lost response cannot be settled
    }
  }

  private async find(entry: JournalEntry, isOvertaken: boolean, isInherited: boolean): Promise<ReadBack> {
    const { write, whose, settings } = this.parts;
    const { rule } = this;
    const { pids = '' } = write.input as { pids?: string };
    const names = pids === '' ? (entry.files?.names ?? []) : pids.split(',');
    const attempt = {
      read: write.read,
      person: whose(),
      before: entry.before,
      // What this one created is not another's: a process may die after the turn, before the end of the run is recorded.
      others: this.state.created.filter(({ name }) => name !== this.name).map(({ id }) => id),
      pictures: names.map((name) => name.replace(/\D/g, '')),
    };
    // The pictures of a request whose process died are not known.
    if (write.files && attempt.pictures.length === 0 && !rule.creates) return { kind: 'unknown' };
    const finding = await lookFor(rule, write, attempt, { settings, sentAt: entry.sentAt, isOvertaken, isInherited });
    return finding.kind === 'done' && rule.creates && this.isAmbiguous(entry) ? { kind: 'unknown' } : finding;
  }

  /** What was found may be what an equal write of unknown outcome created, after this one looked at what was there before. */
  private isAmbiguous({ sentAt }: JournalEntry): boolean {
    const { callTimeoutMs, quietMs } = this.parts.settings;
    return this.state.open.some(
      ({ name, at, input }) => name !== this.name && input === this.input && at + callTimeoutMs + quietMs > sentAt,
    );
  }

  private settled(entry: JournalEntry, { value, id }: ReadBack & { kind: 'done' }): unknown {
    entry.state = 'done';
    entry.value = value;
    this.close(id);
    return value;
  }

  /** The service rejected it, or it was never sent. */
  private async failed(entry: JournalEntry, error: unknown, again: JournalEntry | undefined): Promise<unknown> {
    const { entries, at } = this.parts;
    const { rule } = this;
    const code = error instanceof UpstreamRejection ? error.details.code : undefined;
    if (again && code !== undefined && rule.doneOn?.includes(code)) {
      const finding = rule.find ? await this.find(entry, false, true) : ({ kind: 'done', value: {} } as const);
      if (finding.kind === 'done') return this.settled(entry, finding);
    }
    const isFinal =
      error instanceof UpstreamRejection && !isTokenRejection(error.details) && !isRateLimit(error.details);
    if (isFinal) entries[at] = { state: 'rejected', sentAt: entry.sentAt, details: error.details, files: entry.files };
    else entries[at] = again;
    if (isFinal || !again) this.close(undefined);
    throw error;
  }

  /** Its outcome is known. */
  private close(id: string | undefined): void {
    if (!this.rule.creates) {
      // In memory nothing has to be known of a thing without writes of unknown outcome.
      if (this.known === freshState) this.state = freshState;
      return;
    }
    const { open, created } = this.state;
    this.state = {
      ...this.state,
      open: open.filter(({ name }) => name !== this.name),
      created: id === undefined ? created : [...created, { name: this.name, id }].slice(-CREATED_MAX),
    };
  }

  private stillUnknown(cause?: unknown): UpstreamFailure {
    const { write } = this.parts;
    const { method, path, service } = write.endpoint;
    const details = cause instanceof UpstreamFailure ? cause.details : { service, request: `${method} ${path}` };
    const lookAt = this.rule.lookAt(write.input);
    return new UpstreamFailure('UPSTREAM_RESULT_UNKNOWN', { ...details, lookAt }, 'the outcome is unknown', { cause });
  }
}

const OPEN_MAX = 20;
const CREATED_MAX = 50;

const unavailable = (): GraphQLError =>
  new GraphQLError('The store of idempotency keys cannot be reached, so the write was not sent.', {
    extensions: { code: 'IDEMPOTENCY_UNAVAILABLE' },
  });
