import fc from 'fast-check';
import { expect } from 'vitest';
import { afterEachTest, registerHooks } from './support/hooks.ts';
import { takeConflicts } from './support/one-value.ts';
import { thorough } from './support/optional.ts';

// Of generated inputs a sample too: a property that names no number of runs has a fourth of them, and in .ci/run all.
if (!thorough) fc.configureGlobal({ numRuns: 25 });

afterEachTest(() => expect(takeConflicts(), 'two values of one field in a response').toEqual([]));
registerHooks();
