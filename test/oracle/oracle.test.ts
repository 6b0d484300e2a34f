import { expect, test } from 'vitest';
import { thorough } from '../support/optional.ts';
import { generateCase } from './generate-case.ts';
import { runCase } from './run-case.ts';

/** A fixed set of cases; `npm run oracle` runs any number of others. */
const CASES = thorough ? 200 : 25;

test('the facade’s responses over a misbehaving service agree with the reference', async () => {
  for (let at = 0; at < CASES; at++) {
    const { violations } = await runCase(generateCase(`test/${at}`));
    expect(violations, `npm run oracle -- --seed test --case ${at}`).toEqual([]);
  }
});
