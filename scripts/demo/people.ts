import { timestamp } from '../../src/origin/store/clock.ts';
import type { Database } from '../../src/origin/store/database/database.ts';
import type { Person } from '../../src/origin/store/database/schema.ts';
import { createChance } from '../../src/origin/store/seed/chance.ts';

export interface CityFacts {
  id: string;
  v2_loc_id: string;
  name: string;
}

/** All generated users, and the three users with demo tokens. */
export interface SeedPeople {
  all: Person[];
  alice: Person;
  bob: Person;
  carol: Person;
}

// prettier-ignore
const uids = [
  'alice', 'bob', 'carol', 'maple', 'harbor', 'lantern', 'willow', 'pebble', 'compass', 'juniper', 'thimble', 'sparrow', 'meadow',
  'cinder', 'marble', 'orchard', 'feather', 'drizzle', 'tangerine', 'anchor', 'velvet', 'saffron', 'bramble', 'kettle', 'quill',
  'mosaic', 'ember', 'lagoon', 'poplar', 'pepper', 'cobalt', 'heron', 'almond', 'basalt', 'clover', 'dahlia', 'fennel', 'granite',
  'hazel', 'indigo', 'jasmine', 'lichen', 'mercury', 'nutmeg', 'opal', 'plover', 'quartz', 'russet', 'sable', 'teasel', 'umber',
  'verbena', 'walnut', 'yarrow', 'zephyr', 'acorn', 'birch', 'cricket', 'dune', 'estuary',
];
const firsts = ['林', '周', '沈', '许', '陆', '叶', '顾', '程', '苏', '何', '宋', '唐', '白', '夏', '江'];
const seconds = [
  '知远',
  '晚舟',
  '青禾',
  '一苇',
  '听雨',
  '小满',
  '拾光',
  '南枝',
  '北望',
  '疏影',
  '未央',
  '若水',
  '在野',
  '长风',
];
const signatures = [
  '',
  '',
  '读书，走路，喝茶。',
  '慢一点也没关系',
  '今天也要早睡',
  '一页一页地读',
  '在地铁上看完的都算数',
  '字比话多',
];

/** Sixty users; carol has no friends and no city. */
export function seedPeople(db: Database, cities: readonly CityFacts[]): SeedPeople {
  const chance = createChance('people');
  const named: Record<string, string> = { alice: '艾莉丝', bob: '鲍勃', carol: '卡萝' };
  const all = uids.map((uid, n): Person => {
    const city = uid === 'carol' ? undefined : uid === 'alice' ? cities[1] : cities[chance.int(cities.length)];
    const signature = chance.pick(signatures);
    // Some users have not chosen a uid: it equals their id.
    const id = String(1_000_001 + n);
    const gone = n === uids.length - 1;
    return {
      id,
      uid: n > 3 && n % 9 === 0 ? id : uid,
      name: gone ? '[已注销]' : (named[uid] ?? chance.pick(firsts) + chance.pick(seconds)),
      signature: gone ? '' : signature,
      intro: gone || signature === '' ? '' : `${signature}\n住在${city?.name ?? '路上'}。`,
      homepage: !gone && n % 4 === 0 ? `https://${uid}.example/` : '',
      city_id: city?.id ?? null,
      loc_id: city?.v2_loc_id ?? '',
      loc_name: city?.name ?? '',
      created: timestamp(Date.UTC(2008 + (n % 9), n % 12, 1 + (n % 28), 3, n, n)),
      type: 'user',
      is_banned: gone ? 1 : 0,
    };
  });
  for (const person of all) db.insert('people', person);

  const [alice, bob, carol, ...others] = all;
  if (!alice || !bob || !carol) throw new Error('the first three people are missing');
  const pairs = [[alice, bob], ...chance.some(others, 20).map((other) => [alice, other])];
  for (const person of others) pairs.push(...chance.some(others, 3).map((other) => [person, other]));
  for (const [person, friend] of pairs) {
    if (!person || !friend || person === friend) continue;
    const both = [
      { person_id: person.id, friend_id: friend.id },
      { person_id: friend.id, friend_id: person.id },
    ];
    for (const row of both) db.insertNew('friendships', row);
  }
  return { all, alice, bob, carol };
}
