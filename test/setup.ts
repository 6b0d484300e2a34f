import { expect } from 'vitest';
import { afterEachTest, registerHooks } from './support/hooks.ts';
import { takeConflicts } from './support/one-value.ts';

afterEachTest(() => expect(takeConflicts(), 'two values of one field in a response').toEqual([]));
registerHooks();
