/**
 * Known defects that are not fixed yet. They are counted and do not fail a run. Remove an entry when its defect is fixed:
 * `identity.test.ts` fails until it is removed.
 */
import type { Violation } from './invariants.ts';

/** Fields that an object has by some paths and not by others. */
export const conflictingFields: readonly string[] = [];

/** Fields that return an object although every call says that there is none. */
export const phantomFields: readonly string[] = [];

/** Kinds of violations. */
const known: readonly string[] = [
  ...conflictingFields.map((coordinate) => `two values: ${coordinate}`),
  ...phantomFields.map((name) => `a phantom: Query.${name}`),
];

/** The known defect that a violation is of. */
export const knownDefect = ({ kind }: Violation): string | undefined => known.find((each) => each === kind);
