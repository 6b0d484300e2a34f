import { timestamp } from '../clock.ts';
import type { Chance } from './chance.ts';

export interface BookFacts {
  id: string;
  isbn10: string;
  isbn13: string;
  title: string;
  subtitle: string;
  origin_title: string;
  alt_title: string;
  author: string[];
  translator: string[];
  publisher: string;
  pubdate: string;
  binding: string;
  pages: string;
  price: string;
  series: { id: string; title: string } | null;
  rating_average: string;
  rating_num: number;
  tags: { name: string; count: number }[];
  has_ebook: boolean;
  ebook_price: string | null;
}

/** The book with more of everything, for lists of several pages. */
export const SHOWCASE = '6082808';

/** A random time in the years of the demo data. */
export function sometime(chance: Chance): string {
  return timestamp(Date.UTC(2012, 0, 1) + chance.int(6 * 365 * 86_400) * 1000);
}
