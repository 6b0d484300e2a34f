import { expect, test } from 'vitest';
import { everyNth, thorough } from '../support/optional.ts';
import { shipped } from './shipped.ts';
import { type Compared, type Told, callers, compareAllTold, compareShipped } from './told.ts';

/** A fixed set of operations; `npm run oracle -- --told 2000` compares others. */
const OPERATIONS = thorough ? 40 : 24;

/** The tier of a caller is known for every second operation. */
const someCallers = (round: number): Compared => ({
  callers: everyNth(callers, 2, round),
  isTierKnown: [round % 2 === 0],
});

/** What was told wrongly, by the operation and its caller. */
const wrong = (runs: readonly Told[]) =>
  runs.flatMap(({ seed, caller, isTierKnown, violations }) =>
    violations.map(
      ({ kind, detail }) => `${seed}, ${caller}, tier ${isTierKnown ? '' : 'un'}known: ${kind}: ${detail}`,
    ),
  );

test('the calls and refusals of the shipped operations are those that were told', async () => {
  const runs = await compareShipped(someCallers);
  expect(wrong(runs)).toEqual([]);
  expect(new Set(runs.map(({ seed }) => seed))).toEqual(new Set(shipped().map(({ name }) => name)));
});

test('the calls and refusals of generated operations are those that were told', async () => {
  const runs = await compareAllTold('test', OPERATIONS, 0, someCallers);
  expect(wrong(runs)).toEqual([]);
  expect(runs.filter(({ made }) => made > 1).length).toBeGreaterThan(runs.length / 4);
});
