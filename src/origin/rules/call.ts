import { COUNT_DEFAULT } from '../../api/book.ts';
import type { AnswerOf, InputOf, Tier, Window } from '../../api/endpoint.ts';
import type { ServiceCode } from '../../api/errors.ts';
import type { Slice } from '../store/database/database.ts';
import type { ReceivedPicture } from '../store/pictures.ts';
import type { Stores } from '../store/stores.ts';
import { Rejection } from './rejection.ts';

/** The call of an endpoint: the stores, who sent the request, and what came with it. */
export interface Call extends Stores {
  /** The id of the person of the token; null without one. */
  reader: string | null;
  tier: Tier;
  /** Milliseconds since 1970. */
  now: number;
  received: readonly ReceivedPicture[];
  /** Names of picture files that nothing refers to once the call has succeeded. */
  unused: string[];
}

/** Implements an endpoint: checks the values of the input, reads and writes, and returns the response or throws Rejection. */
export type Rule<Row> = (call: Call, input: InputOf<Row>) => AnswerOf<Row>;

/** A rule for each endpoint of a table. */
export type Rules<Table> = {
  [Name in keyof Table]: (call: Call, input: InputOf<Table[Name]>) => AnswerOf<Table[Name]>;
};

/** The input from the path. */
export type Of = { id: string };

/** These ids are numbers sent as texts; any other text is an unknown id. */
export function numericId(id: string): number {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
}

/** The person of the token. Throws without one. */
export function personOf({ reader }: Pick<Call, 'reader'>): string {
  if (reader === null) throw new Rejection(1000);
  return reader;
}

/** The row, if the reader wrote it. Rejects with this code otherwise. */
export function owned<Row extends { person_id: string }>({ reader }: Call, row: Row, code: ServiceCode): Row {
  if (row.person_id !== reader) throw new Rejection(code);
  return row;
}

export const sliceOf = ({ start = 0, count }: Window, usual = COUNT_DEFAULT): Slice => ({
  start,
  count: count ?? usual,
});
