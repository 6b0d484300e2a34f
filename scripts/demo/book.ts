import type { Database } from '../../src/origin/store/database/database.ts';
import { seedAnnotations } from './annotation.ts';
import { type BookFacts, SHOWCASE } from './book-facts.ts';
import { type Chance, createChance } from '../../src/origin/store/seed/chance.ts';
import { seedCollections } from './collection.ts';
import type { SeedPeople } from './people.ts';
import { contents, prose } from './prose.ts';

const TAGS_OF_SHOWCASE = 60;
/** The average rating of books that have too few ratings for an average. */
const UNKNOWN_AVERAGE = 7;

/** Books, tags, collections and annotations. */
export function seedBooks(db: Database, facts: readonly BookFacts[], people: SeedPeople) {
  const chance = createChance('books');
  const tagNames = [...new Set(facts.flatMap((book) => book.tags.map((tag) => tag.name)))].sort();
  for (const series of new Map(facts.flatMap(({ series }) => (series ? [[series.id, series]] : []))).values()) {
    db.insert('series', series);
  }
  for (const book of facts) {
    addBook(db, book, chance);
    const tags = new Map(book.tags.map(({ name, count }) => [name, count]));
    const least = Math.min(...tags.values(), 40);
    const total = book.id === SHOWCASE ? TAGS_OF_SHOWCASE : tags.size + chance.int(8);
    for (const name of chance.some(tagNames, total)) {
      if (tags.size < total && !tags.has(name)) tags.set(name, Math.max(1, chance.int(least)));
    }
    for (const [name, count] of tags) db.insert('book_tags', { book_id: book.id, name, count });
  }
  seedCollections(db, facts, people);
  seedAnnotations(db, facts, people);
}

function addBook(db: Database, book: BookFacts, chance: Chance) {
  const size = book.id === SHOWCASE ? 2600 : chance.pick([60, 300, 300, 700, 1500]);
  const chapters = book.id === SHOWCASE ? 120 : chance.pick([0, 8, 12, 20, 48]);
  const { rating_average, rating_num, tags, has_ebook, series, ...facts } = book;
  const row = {
    ...facts,
    author: JSON.stringify(book.author),
    translator: JSON.stringify(book.translator),
    raters: rating_num,
    rating_sum: (Number(rating_average) || UNKNOWN_AVERAGE) * rating_num,
    series_id: series?.id ?? null,
    author_intro: prose(chance, Math.round(size / 2)),
    summary: prose(chance, size),
    catalog: contents(chance, chapters),
    ebook_url: has_ebook ? `https://read.catalog.example/ebook/${book.id}/` : null,
    ebook_price: has_ebook ? (book.ebook_price ?? '') : null,
  };
  db.insert('books', row);
}
