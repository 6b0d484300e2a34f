/**
 * What one operation knows of the service: which names of which records are there, and which are on their way.
 *
 * A wish for names waits for those on their way and asks for the rest; a tick's wishes for one record are one ask. Nothing here
 * outlives the operation.
 */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../api/endpoint.ts';
import { type AskingParts, answerAnew, fill, projected, takeKept } from './loading/load.ts';
import type { BudgetState } from './limits/rate-limiter.ts';
import type { Freshness } from './cache/cache-policy.ts';
import {
  type Entry,
  type Names,
  type Record_,
  type RecordSource,
  type Wish,
  createEntry,
  isMember,
  missingOf,
  shownOf,
  telling,
  tierRequired,
  wished,
  wishesFor,
} from './loading/record-state.ts';
import type { FilePart } from './http/multipart.ts';
import { type KeptAnswer, VIEWERS_OWN } from './cache/record-cache.ts';
import type { Trace } from './call-log.ts';
import type { Viewer } from './auth/viewer.ts';
import { type Answer, type Asked, askedOf } from './http/request.ts';

/** What one operation may ask of the service. */
export interface Operation {
  readonly viewer: Viewer;
  readonly trace: Trace;
  /** How long what was read so far may be used again, and by whom. */
  readonly freshness: Freshness;
  /** What the rate limit leaves to the caller's own token; null without a token or a limit. */
  readonly rateBudget: () => Promise<BudgetState | null>;
  /** The answer of a call, null where what it asks for is absent. Equal asks of an operation are one. */
  ask: (endpoint: Endpoint, input: object, names: Names | undefined, path: Path | undefined) => unknown;
  /** The record with these names, beside those of `seen`; null where it is absent. */
  want: (
    kind: string,
    source: RecordSource,
    key: string,
    names: Names,
    seen: Record_,
    path: Path | undefined,
  ) => Promise<Record_ | null> | Record_ | null;
  /** The record, telling of each name that the caller's tier does not get it. */
  refuse: (kind: string, source: RecordSource, record: Record_, names: Names) => Record_;
  /** The answer of a write, which is made once, whatever happens to it. What was asked before it is asked again. */
  write: (
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: AsyncIterable<FilePart>,
  ) => Promise<unknown>;
  /** Throws unless the caller sent a token of their own. */
  requireLogin: () => void;
  /** What a mutation made untrue, for this operation and for all: see `clear` of the record store. */
  changed: (what: readonly string[]) => Promise<void>;
  /** The request that an ask would make now; null where none would be made. */
  wouldAsk: (endpoint: Endpoint, input: object, names: Names | undefined) => Promise<string | null>;
  /** The same for names of a record. */
  wouldRead: (kind: string, source: RecordSource, key: string, names: Names) => Promise<string | null>;
}

interface OperationParts extends AskingParts {
  trace: Trace;
  rateBudget: () => Promise<BudgetState | null>;
  /** Drops what the shared cache keeps of a record or a list, whoever asked. */
  clear: (scope: string) => void | Promise<void>;
}

export const createOperation = (parts: OperationParts): Operation => new KnownRecords(parts);

class KnownRecords implements Operation {
  readonly viewer: Viewer;
  readonly trace: Trace;
  readonly freshness: Freshness;
  readonly rateBudget: () => Promise<BudgetState | null>;
  private readonly parts: OperationParts;
  private readonly answers = new Map<string, unknown>();
  private readonly entries = new Map<string, Entry>();
  /** Of this tick. */
  private wishes: Wish[] = [];

  constructor(parts: OperationParts) {
    this.parts = parts;
    this.viewer = parts.viewer;
    this.trace = parts.trace;
    this.freshness = parts.freshness;
    this.rateBudget = parts.rateBudget;
  }

  ask(endpoint: Endpoint, input: object, names: Names | undefined, path: Path | undefined): unknown {
    const asked = projected(endpoint, input, names);
    const key = asked.wirePath;
    let answer = this.answers.get(key);
    if (answer === undefined) {
      const kept = this.parts.records.getAnswer(endpoint, key);
      answer =
        kept instanceof Promise
          ? kept.then((found) => this.answerOf(asked, found, path))
          : this.answerOf(asked, kept, path);
      this.answers.set(key, answer);
    }
    return answer;
  }

  want(
    kind: string,
    source: RecordSource,
    key: string,
    names: Names,
    seen: Record_,
    path: Path | undefined,
  ): Promise<Record_ | null> | Record_ | null {
    const entry = this.entryOf(kind, source, key);
    if (entry.absent) return null;
    if (this.viewer.isLoggedIn && names.includes(VIEWERS_OWN)) this.freshness.read(null);
    const missing = missingOf(entry, names);
    let waits = wishesFor(entry, names);
    if (missing) {
      const kept = this.parts.records.get(source.ask, kind, key);
      if (kept instanceof Promise || !takeKept(this.parts, entry, kept, missing, path)) {
        const wish = this.wish(entry, missing, kept, path);
        if (!waits.includes(wish)) waits = [...waits, wish];
      }
    }
    return waits.length > 0 ? wished(waits, seen, entry, names) : shownOf(seen, entry, names);
  }

  refuse(kind: string, source: RecordSource, record: Record_, names: Names): Record_ {
    return telling(record, names, (name) => tierRequired(kind, source, name));
  }

  async write(
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: AsyncIterable<FilePart>,
  ): Promise<unknown> {
    this.freshness.read(null);
    try {
      const came = await new Promise<Answer>((resolve, reject) => {
        this.parts.calls.make(askedOf(endpoint, input), path, { came: resolve, failed: reject }, files);
      });
      return came.value;
    } finally {
      this.answers.clear();
    }
  }

  requireLogin(): void {
    this.parts.calls.requireLogin();
  }

  async changed(what: readonly string[]): Promise<void> {
    this.entries.clear();
    await Promise.all(what.map(async (scope) => this.parts.clear(scope)));
  }

  async wouldAsk(endpoint: Endpoint, input: object, names: Names | undefined): Promise<string | null> {
    const key = projected(endpoint, input, names).wirePath;
    const { calls, records } = this.parts;
    if (calls.refuses(endpoint) || (await records.getAnswer(endpoint, key))?.isFresh) return null;
    return key;
  }

  async wouldRead(kind: string, source: RecordSource, key: string, names: Names): Promise<string | null> {
    const { calls, records } = this.parts;
    if (calls.refuses(source.ask)) return null;
    const kept = await records.get(source.ask, kind, key);
    const isKept = kept?.isFresh && names.every((name) => name in kept.record || !isMember(source, name));
    return isKept ? null : `${kind}:${key}`;
  }

  /** From the cache while that is fresh. */
  private answerOf(asked: Asked, kept: KeptAnswer | undefined, path: Path | undefined): unknown {
    if (!kept?.isFresh) return answerAnew(this.parts, asked, kept, path);
    this.parts.calls.spared(asked, path, { cached: true });
    this.freshness.read(kept.freshUntil, asked.endpoint);
    return kept.answer;
  }

  private entryOf(kind: string, source: RecordSource, key: string): Entry {
    const place = `${kind}:${key}`;
    let entry = this.entries.get(place);
    if (!entry) {
      entry = createEntry(kind, key, source);
      this.entries.set(place, entry);
    }
    return entry;
  }

  /** One ask for each record that a tick's wishes name; each waits for its own alone. */
  private wish(entry: Entry, names: Names, kept: Wish['kept'], path: Path | undefined): Wish {
    const open = entry.wishes.find(({ isOpen }) => isOpen);
    if (open) {
      open.names = [...open.names, ...names].sort(); // they are others, or they would be on their way
      return open;
    }
    let grant!: () => void;
    const granted = new Promise<void>((resolve) => (grant = resolve));
    const wish: Wish = { entry, names, kept, path, isOpen: true, granted, grant };
    entry.wishes = entry.wishes.length === 0 ? [wish] : [...entry.wishes, wish];
    this.wishes.push(wish);
    // All that promises bring about now belongs to this tick.
    if (this.wishes.length === 1) void soon.then(() => process.nextTick(grantAll, this));
    return wish;
  }

  grantAll(): void {
    const { wishes } = this;
    this.wishes = [];
    for (const wish of wishes) {
      wish.isOpen = false;
      fill(this.parts, wish);
    }
  }
}

const grantAll = (known: KnownRecords): void => known.grantAll();

/** A microtask of its own makes Node follow it as it would a call from outside, at three times the price. */
const soon = Promise.resolve();
