/** The record of one write, and its text in a store. */
import type { UpstreamErrorDetails } from '../../../upstream/errors.ts';
import type { Snapshot } from '../../../upstream/write-guard.ts';
import type { FilesRead } from './files.ts';
import { KEPT_CHARACTERS_MAX } from './store/entries.ts';

/** What is known of one write. */
export interface JournalEntry {
  /** The path of its field, and its number within the field. */
  readonly at: string;
  /** Method and path of the endpoint, and a hash of the input. */
  readonly request: string;
  /** `sending`: it may have been carried out. */
  state: 'sending' | 'done' | 'rejected';
  /** By the clock of the store. Undefined if the process died while it was sent: then the store knows when it was recorded. */
  sentAt?: number | undefined;
  /** When its attempt ended without a response. */
  endedAt?: number | undefined;
  before?: Snapshot | undefined;
  /** What the input of the mutation was completed with before it was first sent. */
  readonly kept?: object | undefined;
  /** The files that were sent to their end. */
  files?: FilesRead | undefined;
  value?: unknown;
  /** The response was too large to be kept. */
  isCut?: boolean;
  details?: UpstreamErrorDetails;
}

export type Entries = Map<string, JournalEntry>;

/** The id in the response of a creation. */
export function createdId(response: unknown): string | undefined {
  const { id } = (response ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

export const entriesIn = (text: string | undefined): JournalEntry[] =>
  text === undefined ? [] : (JSON.parse(text) as JournalEntry[]);

/** Bounded: of large responses only that the writes are done is kept. */
export function journalText(entries: Iterable<JournalEntry>): string {
  const text = JSON.stringify([...entries]);
  if (text.length <= KEPT_CHARACTERS_MAX) return text;
  const cut = [...entries].map((entry) =>
    entry.state === 'done' ? { ...entry, value: undefined, isCut: true } : entry,
  );
  return JSON.stringify(cut);
}
