/** The record of one write, and the text of a journal in a store. */
import type { UpstreamErrorDetails } from '../../../upstream/errors.ts';
import type { Snapshot } from '../../../upstream/write-guard.ts';

/** What is known of one write. */
export interface JournalEntry {
  /** The path of its field, and its number within the field. */
  readonly at: string;
  /** Method and path of the endpoint, and a hash of the input under the key. */
  readonly request: string;
  /** `sending`: it may have been carried out. */
  readonly state: 'sending' | 'done' | 'rejected';
  /** By the clock of the store, and undefined until that has said when it has recorded it. */
  readonly sentAt?: number | undefined;
  /** When its attempt ended without a response. */
  readonly endedAt?: number | undefined;
  readonly before?: Snapshot | undefined;
  /** What the input of the mutation was completed with before it was first sent. */
  readonly kept?: object | undefined;
  readonly value?: unknown;
  readonly details?: UpstreamErrorDetails;
}

export type Entries = Map<string, JournalEntry>;

/** `savedAt`: when it was written. A process that died has recorded a write then, and no other request may move that time. */
export const readJournal = (text = '[]', savedAt = 0): Entries =>
  new Map((JSON.parse(text) as JournalEntry[]).map((entry) => [entry.at, { sentAt: savedAt, ...entry }]));

/** An entry for all writes that may be missing, with the time of the journal that lacks them: they are looked for, and never sent. */
export const MISSING = '';

export const missingSince = (sentAt: number): JournalEntry => ({ at: MISSING, request: '', state: 'sending', sentAt });
