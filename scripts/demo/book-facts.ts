import { timestamp } from '../../src/origin/store/clock.ts';
import type { Stored } from '../../src/origin/store/database/schema.ts';
import type { Chance } from '../../src/origin/store/seed/chance.ts';

export interface BookFacts
  extends
    Pick<Stored<'books'>, 'id' | 'isbn10' | 'isbn13' | 'title' | 'subtitle' | 'origin_title' | 'alt_title'>,
    Pick<Stored<'books'>, 'publisher' | 'pubdate' | 'binding' | 'pages' | 'price' | 'ebook_price'> {
  author: string[];
  translator: string[];
  series: Stored<'series'> | null;
  rating_average: string;
  rating_num: number;
  tags: { name: string; count: number }[];
  has_ebook: boolean;
}

/** The book with more of everything, for lists of several pages. */
export const SHOWCASE = '6082808';

/** A random time in the years of the demo data. */
export function sometime(chance: Chance): string {
  return timestamp(Date.UTC(2012, 0, 1) + chance.int(6 * 365 * 86_400) * 1000);
}
