/** The price file: what each operation costs, as it was when somebody accepted it. It is made to be committed beside the documents. */
import { existsSync, writeFileSync } from 'node:fs';
import type { CostRange } from '../engine/cost/cost-range.ts';
import { isPlainObject } from '../lib/objects.ts';
import { readTextFile } from '../lib/text/read-text.ts';
import { UserError } from '../lib/user-error.ts';

export interface StoredPrice {
  least: number;
  most: number;
  items: number;
  values: number;
}

/** By the name of the operation. */
export type Prices = ReadonlyMap<string, StoredPrice>;

const MEASURES = ['least', 'most', 'items', 'values'] as const;
const WORDS: Readonly<Record<keyof StoredPrice, string>> = {
  least: 'upstream calls, the least',
  most: 'upstream calls, the most',
  items: 'items',
  values: 'values',
};

export const storedPrice = ({ calls: { least, most }, items, values }: CostRange): StoredPrice => ({
  least,
  most,
  items,
  values,
});

/** `calls, the most: 8 before, 12 now` for each measure that rose. */
export const rises = (before: StoredPrice, now: StoredPrice): string[] =>
  MEASURES.filter((measure) => now[measure] > before[measure]).map(
    (measure) => `${WORDS[measure]}: ${before[measure]} before, ${now[measure]} now`,
  );

/** Throws a UserError for a file that cannot be read, or is no price file. */
export function readPrices(path: string): Prices {
  if (!existsSync(path)) throw new UserError(`There is no price file ${path}: write it with --update.`);
  const text = readTextFile(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${path} is no price file: ${(error as Error).message}`);
  }
  if (!isPlainObject(value)) throw new UserError(`${path} is no price file.`);
  const entries = Object.entries(value);
  const wrong = entries.find(([, price]) => !isPrice(price))?.[0];
  if (wrong !== undefined)
    throw new UserError(
      `${path} is no price file: ${JSON.stringify(wrong)} has not the numbers ${MEASURES.join(', ')}.`,
    );
  return new Map(entries as [string, StoredPrice][]);
}

const isPrice = (value: unknown): boolean =>
  isPlainObject(value) && MEASURES.every((measure) => Number.isInteger(value[measure]));

/** Sorted by name, one operation a line, so that a change of one operation changes one line. Throws a UserError. */
export function writePrices(path: string, prices: Prices): void {
  const lines = [...prices]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, price]) => `  ${JSON.stringify(name)}: ${JSON.stringify(price)}`);
  try {
    writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`);
  } catch (error) {
    throw new UserError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
