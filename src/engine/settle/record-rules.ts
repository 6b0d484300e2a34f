/** Rules of writes that change or delete one record: it is compared with what was there before. */
import { hash } from 'node:crypto';
import type { ReadBack, ReadRecord, WriteRule } from '../../upstream/write-guard.ts';

/** The input of a write to one record. */
export interface OfId {
  id: string;
}

export const there = (value: unknown, id?: string): ReadBack => ({
  kind: 'there',
  value,
  ...(id !== undefined && { id }),
});
export const absent: ReadBack = Object.freeze({ kind: 'absent' });
export const unknown: ReadBack = Object.freeze({ kind: 'unknown' });

/** Equal for equal members. Their values may be large and private, so only a hash is kept. */
const stateOf = (members: unknown): string => hash('sha256', JSON.stringify(members ?? null), 'base64url');

/** The record that shows a write. */
interface ShownBy<In, Shown> {
  load: (input: In, read: ReadRecord) => Promise<Shown | null>;
  /** The members that only writes to the record change, with the time of the last change if there is one. */
  members: (record: Shown) => unknown;
}

type Rest<In> = Pick<WriteRule<In>, 'lookAt' | 'doneOn'>;

interface ChangeRule<In, Shown> extends Rest<In>, ShownBy<In, Shown> {
  /** The record is as the write asks for. */
  isOurs: (record: Shown, input: In) => boolean;
  /** The write may change more than the record shows. */
  hidesChanges?: boolean;
  /** What the response has; the record by default. */
  response?: (record: Shown) => unknown;
  /** The pictures of the record, if the write may carry some. */
  photos?: (record: Shown) => Readonly<Record<string, unknown>> | undefined;
  /** The numbers of the pictures that it carries, which show nothing if the record had them before; undefined if they are not known. */
  numbers?: (input: In, fileNames: readonly string[] | undefined) => readonly string[] | undefined;
  /** The response if there is no record any more: of a deletion. */
  gone?: unknown;
}

/** As it asks for: there. As before: absent. Neither: somebody changed it since, so it is unknown and never overwritten. */
export function changeRule<In, Shown>({
  load,
  members,
  isOurs,
  hidesChanges = false,
  response = (record) => record,
  photos,
  numbers,
  gone,
  ...rest
}: ChangeRule<In, Shown>): WriteRule<In> {
  return {
    ...rest,
    reads: [1, 1],
    before: async (input, { read }) => {
      const record = await load(input, read);
      return { state: stateOf(record && members(record)), ids: Object.keys((record && photos?.(record)) ?? {}) };
    },
    async find(input, { read, before, fileNames }) {
      const record = await load(input, read);
      if (record === null && gone !== undefined) return there(gone);
      const carried = numbers ? numbers(input, fileNames) : [];
      if (record === null || !carried || carried.some((number) => before?.ids?.includes(number))) return unknown;
      const stored = photos?.(record) ?? {};
      const isUnchanged = before?.state === stateOf(members(record));
      const isDone = isOurs(record, input) && carried.every((number) => stored[number] !== undefined);
      if (isDone && !(hidesChanges && isUnchanged)) return there(response(record));
      return isUnchanged ? absent : unknown;
    },
  };
}

/** A record that was changed since, or made anew under the same id, is not deleted. */
export const deletionRule = <In, Shown>(rule: Rest<In> & ShownBy<In, Shown>, gone: unknown = {}): WriteRule<In> =>
  changeRule({ ...rule, isOurs: () => false, gone });
