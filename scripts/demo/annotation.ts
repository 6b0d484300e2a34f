import { drawnName } from '../../src/origin/store/drawn-pictures.ts';
import type { Database } from '../../src/origin/store/database/database.ts';
import type { Person } from '../../src/origin/store/database/schema.ts';
import { type BookFacts, SHOWCASE, sometime } from './book-facts.ts';
import { type Chance, createChance } from '../../src/origin/store/seed/chance.ts';
import type { SeedPeople } from './people.ts';
import { heading, prose } from './prose.ts';

/** The number of annotations of the showcase, of each of the next five books, and of alice. */
const OF_SHOWCASE = 84;
const OF_KNOWN = 56;
const KNOWN = 5;
const OF_ALICE = 60;

export function seedAnnotations(db: Database, facts: readonly BookFacts[], people: SeedPeople) {
  const chance = createChance('annotations');
  const writers = people.all.filter((person) => person !== people.alice && person !== people.carol);
  const add = annotationWriter(db, chance);
  facts.forEach((book, n) => {
    const count = book.id === SHOWCASE ? OF_SHOWCASE : n <= KNOWN ? OF_KNOWN : chance.int(4);
    for (let i = 0; i < count; i++) add(chance.pick(writers), book.id, i);
  });
  for (let i = 0; i < OF_ALICE; i++) add(people.alice, i < 6 ? SHOWCASE : chance.pick(facts).id, i);
}

function annotationWriter(db: Database, chance: Chance) {
  let id = 32_072_000;
  return (person: Person, book: string, nth: number) => {
    id++;
    const pictures = nth % 11 === 3 ? 2 : 0;
    const photoText = pictures > 0 ? `\n<图片1>\n${prose(chance, 60)}\n<图片2>` : '';
    const math = nth % 37 === 5 ? '\n$$e^{i\\pi} + 1 = 0$$\n' : '';
    const inChapter = chance.oneIn(4);
    const row = {
      id,
      book_id: book,
      person_id: person.id,
      chapter: inChapter ? heading(chance) : '',
      page_no: inChapter ? null : chance.between(1, 360),
      private: nth % 9 === 7 ? (1 as const) : (0 as const),
      content: prose(chance, chance.pick([20, 90, 240, 600])) + math + photoText,
      usefulness: chance.int(200),
      comments_count: chance.int(30),
      time: sometime(chance),
    };
    db.insert('annotations', row);
    for (let number = 1; number <= pictures; number++) {
      const picture = drawnName('annotation', 'large', `${id}-${number}`);
      db.insert('annotation_photos', { annotation_id: id, number, picture });
    }
  };
}
