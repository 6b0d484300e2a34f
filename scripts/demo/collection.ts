import { collectionStatuses } from '../../src/api/book.ts';
import { countTag } from '../../src/origin/store/collection.ts';
import type { Database } from '../../src/origin/store/database/database.ts';
import { type BookFacts, SHOWCASE, sometime } from './book-facts.ts';
import { createChance } from '../../src/origin/store/seed/chance.ts';
import type { SeedPeople } from './people.ts';
import { sentence } from './prose.ts';

const OF_ALICE = 96;

/** Collections of each user; alice has several pages of every status. Their ratings are part of those in the demo data. */
export function seedCollections(db: Database, facts: readonly BookFacts[], people: SeedPeople) {
  const chance = createChance('collections');
  const showcase = facts.find((book) => book.id === SHOWCASE);
  let id = 898_248_000;
  for (const person of people.all) {
    if (person.is_banned) continue;
    const others = facts.filter((book) => book !== showcase);
    const count = person === people.alice ? OF_ALICE : chance.between(3, 18);
    const books = chance.some(others, count);
    // Everyone but carol has collected the showcase; bob's collection of it is private.
    if (showcase && person !== people.carol) books.push(showcase);
    for (const book of books) {
      const status = book === showcase ? 'read' : chance.pick(collectionStatuses);
      const secret = book === showcase ? person === people.bob : chance.oneIn(8);
      const own = book === showcase && person === people.alice;
      const tags = own
        ? ['拉美文学', '重读']
        : chance.oneIn(3)
          ? []
          : chance.some(oneWord(book.tags), chance.between(1, 3));
      const row = {
        id: ++id,
        book_id: book.id,
        person_id: person.id,
        status,
        comment: own || chance.oneIn(2) ? sentence(chance) : '',
        rating: own ? 5 : status === 'wish' || chance.oneIn(4) ? null : chance.between(2, 5),
        private: secret ? (1 as const) : (0 as const),
        updated: sometime(chance),
      };
      db.insert('collections', row);
      tags.forEach((name, position) => {
        db.insert('collection_tags', { collection_id: id, name, position });
        if (!secret) countTag(db, book.id, name, 1);
      });
    }
  }
}

/** Tags in a request are separated by spaces, so a tag contains none. */
const oneWord = (tags: BookFacts['tags']) => tags.map((tag) => tag.name).filter((name) => !/\s/u.test(name));
