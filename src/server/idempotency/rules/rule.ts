/** How it is recognised whether a write was carried out. Each endpoint that writes has a rule. */
import type { Endpoint } from '../../../api/endpoint.ts';
import type { GuardedWrite } from '../../../upstream/write-guard.ts';

/** What the service shows of a write. */
export type ReadBack =
  /** It was carried out. `value`: its response, as if it had come; `id`: of what it created. */
  | { kind: 'done'; value: unknown; id?: string }
  /** It was not carried out yet. */
  | { kind: 'absent' }
  | { kind: 'unknown' };

/** The ids of a list before a write. */
export interface Before {
  readonly ids: readonly string[];
  /** The list has no further pages. */
  readonly isWhole: boolean;
  /** The position of the page. */
  readonly start?: number;
  /** Whose list it is. */
  readonly person?: string;
}

/** The input of a write to one thing. */
export interface OfId {
  id: string;
}

export interface Attempt {
  readonly read: GuardedWrite['read'];
  readonly person: string | undefined;
  /** What was read before the write was sent; undefined if that failed. */
  readonly before: Before | undefined;
  /** Ids that other writes with keys created. */
  readonly others: readonly string[];
  /** The numbers of the pictures that it carries. */
  readonly pictures: readonly string[];
}

export interface WriteRule<In = never> {
  /** What it writes to. Writes with keys to one thing take turns. */
  readonly thing: (input: In) => string;
  /** What must be known of before, so that a thing of equal content is not taken for this one. */
  readonly before?: (input: In, attempt: Pick<Attempt, 'read' | 'person'>) => Promise<Before | undefined>;
  /** Looks whether it was carried out. Without it, the write can be sent again: it changes nothing if it was carried out before. */
  readonly find?: (input: In, attempt: Attempt) => Promise<ReadBack>;
  /** It creates something: of two equal ones, two are made. */
  readonly creates?: true;
  /** No read shows what it did, and a second one would do it again. */
  readonly isHidden?: true;
  /** Codes by which the service says that a second one finds it done. */
  readonly doneOn?: readonly number[];
  /** The most reads of `before` and of `find`. */
  readonly reads: readonly [before: number, find: number];
  /** The read that shows it to a person. */
  readonly lookAt: (input: In) => string;
}

export const done = (value: unknown, id?: string): ReadBack => ({
  kind: 'done',
  value,
  ...(id !== undefined && { id }),
});
export const absent: ReadBack = Object.freeze({ kind: 'absent' });
export const unknown: ReadBack = Object.freeze({ kind: 'unknown' });

/** A rule for the input of its endpoint. */
export const ruleFor = <In, Out>(endpoint: Endpoint<In, Out>, rule: WriteRule<In>): readonly [Endpoint, WriteRule] => [
  endpoint,
  rule,
];

/** A record that a deletion removes. */
export const deletionRule = <In>(
  read: Endpoint<In>,
  rest: Pick<WriteRule<In>, 'thing' | 'doneOn' | 'lookAt'>,
  value: unknown = {},
): WriteRule<In> => ({
  ...rest,
  reads: [0, 1],
  async find(input, attempt) {
    // The input of the deletion may have more than the path of the record.
    const members = input as Readonly<Record<string, unknown>>;
    const path = Object.fromEntries(read.params.map((name) => [name, members[name]]));
    return (await attempt.read<Endpoint>(read, path)) ? absent : done(value);
  },
});
