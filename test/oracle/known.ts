/** Defects that are known and not mended yet: they are counted and do not fail a run. Whoever mends one takes its entry out. */
import type { Violation } from './invariants.ts';

const known: readonly { what: string; holds: (violation: Violation) => boolean }[] = [];

export const isKnown = (violation: Violation): boolean => known.some(({ holds }) => holds(violation));
