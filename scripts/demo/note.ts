import { notePrivacies, pictureLayouts } from '../../src/api/note.ts';
import { drawnName } from '../../src/origin/store/drawn-pictures.ts';
import type { Database } from '../../src/origin/store/database/database.ts';
import type { Person } from '../../src/origin/store/database/schema.ts';
import { sometime } from './book-facts.ts';
import { type Chance, createChance } from '../../src/origin/store/seed/chance.ts';
import type { SeedPeople } from './people.ts';
import { heading, prose, sentence } from './prose.ts';

const OF_ALICE = 54;
const OF_BOB = 9;
const COMMENTS_OF_FIRST = 48;

/** Notes of users; the first note of alice is public, with many likes and comments. */
export function seedNotes(db: Database, people: SeedPeople) {
  const chance = createChance('notes');
  const add = noteWriter(db, chance, people);
  for (let n = 0; n < OF_ALICE; n++) add(people.alice, n);
  for (let n = 0; n < OF_BOB; n++) add(people.bob, n);
  for (const person of people.all.slice(2)) {
    if (!person.is_banned) for (let n = chance.int(3); n > 0; n--) add(person, n);
  }
}

function noteWriter(db: Database, chance: Chance, people: SeedPeople) {
  let id = 244_600_000;
  let comment = 104_800_000;
  return (author: Person, nth: number) => {
    id++;
    const first = author === people.alice && nth === 0;
    const pictures = first || nth % 6 === 2 ? 2 : 0;
    const captions = ['', sentence(chance)];
    const layouts = [chance.pick(pictureLayouts), chance.pick(pictureLayouts)];
    const tags = captions.slice(0, pictures).map((caption, n) => `[img=${n + 1}:${layouts[n] ?? 'C'}]${caption}[/img]`);
    const link =
      first || chance.oneIn(4)
        ? `\n[url="https://www.catalog.example/note/${id}/more"]${chance.oneIn(2) ? '' : heading(chance)}[/url]`
        : '';
    const publish_time = sometime(chance);
    db.insert('notes', {
      id,
      person_id: author.id,
      title: `${heading(chance)}之${nth + 1}`,
      content: [prose(chance, chance.between(40, 500)), ...tags, prose(chance, 50)].join('\n') + link,
      privacy: first ? 'public' : (notePrivacies[nth % 5 === 3 ? 1 : nth % 5 === 4 ? 2 : 0] ?? 'public'),
      can_reply: nth % 10 === 9 ? 0 : 1,
      publish_time,
      update_time: publish_time,
      recs_count: chance.int(12),
    });
    for (let number = 1; number <= pictures; number++) {
      const picture = drawnName('note', 'large', `${id}-${number}`);
      const photo = { picture, layout: layouts[number - 1] ?? 'C', caption: captions[number - 1] ?? '' };
      db.insert('note_photos', { note_id: id, number, ...photo });
    }
    const readers = people.all.filter((person) => person !== author && !person.is_banned);
    for (const person of chance.some(readers, first ? 30 : chance.int(8))) {
      db.insert('note_likes', { note_id: id, person_id: person.id });
    }
    const comments = first ? COMMENTS_OF_FIRST : nth % 10 === 9 ? 0 : chance.int(4);
    for (let n = 0; n < comments; n++) {
      const row = {
        id: ++comment,
        note_id: id,
        person_id: chance.pick(readers).id,
        content: sentence(chance),
        created: publish_time,
      };
      db.insert('note_comments', row);
    }
  };
}
