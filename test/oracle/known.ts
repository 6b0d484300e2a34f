/** Known defects that are not fixed yet. They are counted and do not fail a run. Remove an entry when its defect is fixed. */
import type { Violation } from './invariants.ts';

const known: readonly { what: string; holds: (violation: Violation) => boolean }[] = [];

export const isKnown = (violation: Violation): boolean => known.some(({ holds }) => holds(violation));
