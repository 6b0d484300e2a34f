import { timestamp } from '../../src/origin/store/clock.ts';
import type { Database } from '../../src/origin/store/database/database.ts';
import type { Stored } from '../../src/origin/store/database/schema.ts';
import { type Chance, createChance } from '../../src/origin/store/seed/chance.ts';
import type { SeedPeople } from './people.ts';

type RatedFilm = Pick<Stored<'subjects'>, 'id' | 'rating_average'>;

// prettier-ignore
const feelings = ['看完很久都没有起身。', '比想象中安静。', '节奏刚刚好。', '后半段忽然有了力气。', '适合一个人看。', '笑着笑着就不笑了。'];
// prettier-ignore
const details = ['摄影很稳', '配乐克制', '台词像日常说话', '群像写得细', '结尾留白', '场面调度干净', '美术花了心思', '剪辑利落'];
// prettier-ignore
const verdicts = ['值得再看一遍。', '推荐给家里人。', '不为别的，为那场雨。', '三刷之后还是喜欢。', '略长，但不闷。', '给导演加半颗星。', '期待下一部。'];
// prettier-ignore
const titles = ['散场之后', '一次迟到的观影', '关于那个长镜头', '为什么我喜欢它', '两个小时之外', '小人物的光', '谈谈它的声音', '再看一遍'];
const captions = ['', '', '剧照', '片场', '海报', '首映礼', '官方剧照', '幕后'];

/** Comments, reviews and photos of a film; of a showcase, enough for several pages. */
export function seedOpinions(db: Database, film: RatedFilm, people: SeedPeople, isShowcase: boolean) {
  const chance = createChance(`opinions ${film.id}`);
  const remark = () => `${chance.some(details, 2).join('，')}。${chance.pick(feelings)}${chance.pick(verdicts)}`;

  for (const person of chance.some(people.all, isShowcase ? 52 : chance.between(4, 24))) {
    const row = {
      content: remark(),
      rating: ratingNear(chance, film),
      useful: chance.int(2000),
      created: when(chance),
    };
    db.insert('film_comments', { subject_id: film.id, person_id: person.id, ...row });
  }
  for (const person of chance.some(people.all, isShowcase ? 31 : chance.between(1, 14))) {
    const content = Array.from({ length: chance.between(3, 9) }, remark).join('\n');
    const created = when(chance);
    const counts = { useful: chance.int(3000), useless: chance.int(300), comments: chance.int(120) };
    const row = {
      title: chance.pick(titles),
      content,
      rating: ratingNear(chance, film),
      created,
      updated: created,
      ...counts,
    };
    db.insert('film_reviews', { subject_id: film.id, person_id: person.id, ...row });
  }
  seedAlbum(db, chance, { subject_id: film.id, celebrity_id: null }, isShowcase ? 53 : chance.between(2, 16), people);
}

export function seedCelebrityPhotos(
  db: Database,
  works: readonly Stored<'works'>[],
  people: SeedPeople,
  showcase: string,
) {
  for (const { celebrity_id, subject_id } of works.filter((work) => work.position === 0)) {
    const chance = createChance(`album ${celebrity_id}`);
    const size = celebrity_id === showcase ? 33 : chance.int(8);
    // A photo in the album of a celebrity belongs to a subject too: the newest work.
    seedAlbum(db, chance, { subject_id, celebrity_id }, size, people);
  }
}

function seedAlbum(
  db: Database,
  chance: Chance,
  album: { subject_id: string; celebrity_id: string | null },
  size: number,
  people: SeedPeople,
) {
  const times = Array.from({ length: size }, () => when(chance)).sort();
  times.forEach((created, position) => {
    const row = { position, created, description: chance.pick(captions), comments_count: chance.int(12) };
    db.insert('film_photos', { ...album, person_id: chance.pick(people.all).id, ...row });
  });
}

/** One to five stars, near the average of the film. */
function ratingNear(chance: Chance, film: RatedFilm): number {
  return Math.min(5, Math.max(1, Math.round((film.rating_average || 6) / 2) + chance.between(-1, 1)));
}

const when = (chance: Chance) =>
  timestamp(
    Date.UTC(
      chance.between(2015, 2019),
      chance.int(12),
      chance.between(1, 28),
      chance.int(24),
      chance.int(60),
      chance.int(60),
    ),
  );
