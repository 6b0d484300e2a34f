/** The record of one write, and the text of a journal in a store. */
import type { UpstreamErrorDetails } from '../../../upstream/errors.ts';
import type { Snapshot } from '../../../upstream/write-guard.ts';
import { TEXT_MAX } from './store/key-store.ts';

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
  /** It was too large to be kept whole: the value of a write that is done, or what the input was completed with. */
  readonly isCut?: boolean;
  readonly details?: UpstreamErrorDetails;
}

export type Entries = Map<string, JournalEntry>;

/** `savedAt`: when it was written. A process that died has recorded a write then, and no other request may move that time. */
export const readJournal = (text = '[]', savedAt = 0): Entries =>
  new Map((JSON.parse(text) as JournalEntry[]).map((entry) => [entry.at, { sentAt: savedAt, ...entry }]));

/** Bounded: what is large of each write is left out if all do not fit. */
export function journalText(entries: Iterable<JournalEntry>): string {
  const text = JSON.stringify([...entries]);
  if (text.length <= MOST_CHARACTERS) return text;
  const cut = ({ value: _, kept, ...entry }: JournalEntry) => ({
    ...entry,
    ...((entry.state === 'done' || kept) && { isCut: true }),
  });
  return JSON.stringify([...entries].map(cut));
}

/** Base64 makes four characters of three. */
const MOST_CHARACTERS = Math.floor((TEXT_MAX * 3) / 4) - 100;
