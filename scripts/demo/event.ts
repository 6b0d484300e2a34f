import type { EventType } from '../../src/api/event.ts';
import { zonedTimestamp } from '../../src/origin/store/clock.ts';
import type { Database } from '../../src/origin/store/database/database.ts';
import type { NewRow, Person, Stored } from '../../src/origin/store/database/schema.ts';
import { type Chance, createChance } from '../../src/origin/store/seed/chance.ts';
import type { CityFacts, SeedPeople } from './people.ts';

type EventText = Pick<
  Stored<'events'>,
  'title' | 'type' | 'content' | 'invite_only' | 'can_invite' | 'starts' | 'ends' | 'starts_ms' | 'ends_ms' | 'place'
>;

export interface EventFacts {
  id: string;
  title: string;
  category: EventType;
  city_id: string;
  address: string;
  start: string;
  end: string;
  participants: number;
  wishers: number;
  /** `lat lon` or empty. */
  geo: string;
  owner_type: 'user' | 'site';
  /** null: a private user. */
  owner: string | null;
  invite_only: 'yes' | 'no';
  can_invite: 'yes' | 'no';
  /** `invented`, or otherwise the source of a real event. */
  origin: string;
}

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const OFFSET_MS = 8 * HOUR_MS;
/** Generated events take place within this number of days. */
const DAYS_AHEAD = 42;
/** The number of events that alice created, for lists of several pages. */
const OF_ALICE = 27;
const OTHERS_IN_BEIJING = 39;
/** The number of participants, and of interested users, of one event, for lists of several pages. */
const SHOWCASE_EACH = 48;

/** The events of the demo data, which are past except for generated ones, and some sixty in Beijing. */
export function seedEvents(
  db: Database,
  facts: readonly EventFacts[],
  cities: readonly CityFacts[],
  { all, alice }: SeedPeople,
) {
  const chance = createChance('events');
  const beijing = cities.find((city) => city.id === 'beijing');
  if (!beijing) throw new Error('Beijing is missing');
  const add = (
    person: Person,
    city_id: string,
    event: EventText & Partial<NewRow<'events'>>,
    going: readonly Person[],
    interested: readonly Person[],
  ) => {
    const defaults = { point: '', has_image: 1 as const, more_participants: 0, more_wishers: 0 };
    const { id } = db.insert('events', { ...defaults, ...event, person_id: person.id, city_id });
    for (const one of going) db.insert('attendances', { event_id: id, person_id: one.id, relation: 'participate' });
    for (const one of interested) db.insert('attendances', { event_id: id, person_id: one.id, relation: 'wish' });
  };

  const sites = seedSites(db, facts);
  for (const fact of facts) {
    const isInvented = fact.origin === 'invented';
    const owner = (fact.owner && sites.get(fact.owner)) || chance.pick(all.slice(3));
    const length = Date.parse(fact.end) - Date.parse(fact.start);
    const starts = isInvented ? ahead(chance, Date.parse(fact.start)) : Date.parse(fact.start);
    const crowd = chance.some(all.slice(3), 12);
    const [going, interested] = [crowd.slice(0, Math.min(7, fact.participants)), crowd.slice(7).slice(0, fact.wishers)];
    const event = {
      ...when(starts, length),
      id: Number(fact.id),
      title: fact.title,
      type: fact.category,
      content: contentOf(chance, fact.title),
      invite_only: fact.invite_only === 'yes' ? (1 as const) : (0 as const),
      can_invite: fact.can_invite === 'yes' ? (1 as const) : (0 as const),
      place: fact.address,
      point: fact.geo,
      more_participants: fact.participants - going.length,
      more_wishers: fact.wishers - interested.length,
    };
    add(owner, fact.city_id, event, going, interested);
  }

  const guests = [...all, ...seedGuests(db, beijing)];
  for (let n = 0; n < OF_ALICE + OTHERS_IN_BEIJING; n++) {
    const isOfAlice = n % 2 === 0 && n / 2 < OF_ALICE;
    const owner = isOfAlice ? alice : chance.pick(all.slice(3));
    const event = invented(chance, n, beijing);
    const isShowcase = n === 0;
    const others = chance.some(
      guests.filter((guest) => guest !== owner && guest !== alice),
      isShowcase ? 2 * SHOWCASE_EACH : chance.between(3, 20),
    );
    const half = isShowcase ? SHOWCASE_EACH : Math.ceil(others.length / 2);
    const interested = [...others.slice(half), ...(isOfAlice || n === 1 ? [] : [alice])];
    add(owner, beijing.id, event, [owner, ...others.slice(0, half)], interested);
  }
}

// prettier-ignore
const kinds: Record<EventType, readonly [readonly string[], readonly string[]]> = {
  music:      [['巷口民谣夜', '午后弦乐四重奏', '即兴爵士', '合唱团开放排练'], ['小剧场', '旧仓库', '咖啡馆']],
  drama:      [['独角戏', '街头默剧', '读剧会', '黑匣子实验短剧'], ['小剧场', '排练厅']],
  exhibition: [['黑白照片展', '旧地图展', '木版画展', '手抄本特展'], ['美术馆', '图书馆']],
  film:       [['默片放映', '动画短片之夜', '露天电影', '纪录片与对谈'], ['资料馆', '屋顶', '书店']],
  salon:      [['翻译漫谈', '城市史讲座', '科幻读书会', '诗歌朗读'], ['书店', '图书馆', '茶室']],
  party:      [['桌游下午', '交换旧物', '一起包饺子', '语言角'], ['社区中心', '咖啡馆']],
  sports:     [['夜跑', '羽毛球双打', '飞盘入门', '晨间太极'], ['公园', '体育馆']],
  travel:     [['长城徒步', '胡同散步', '骑行到水库', '看候鸟'], ['地铁口', '公园东门']],
  commonweal: [['旧书捐赠', '河岸清洁', '给老人读报', '流浪猫领养日'], ['社区中心', '公园']],
  others:     [['木工体验', '陶艺入门', '观星', '植物拓印'], ['工作室', '公园']],
};
const districts = ['东城区', '西城区', '海淀区', '朝阳区', '丰台区', '石景山区'];

function invented(chance: Chance, n: number, city: CityFacts): EventText {
  const types = Object.keys(kinds) as EventType[];
  const type = types[n % types.length] ?? 'others';
  const [subjects, places] = kinds[type];
  const title = `${subjects[Math.floor(n / types.length) % subjects.length]}（第${Math.floor(n / 10) + 1}期）`;
  // Half past some hour between nine and eight, local time.
  const at = chance.between(9, 20) * HOUR_MS + HOUR_MS / 2 - OFFSET_MS;
  return {
    ...when(ahead(chance, at), chance.between(1, 4) * HOUR_MS),
    title,
    type,
    content: contentOf(chance, title),
    invite_only: chance.oneIn(12) ? 1 : 0,
    can_invite: chance.oneIn(3) ? 0 : 1,
    place: `${city.name} ${chance.pick(districts)} ${chance.pick(places)}`,
  };
}

/** A time in the first weeks of 1970, at the same time of day as `at`: the origin adds the day on which it fills its database. */
function ahead(chance: Chance, at: number): number {
  const timeOfDay = ((at % DAY_MS) + DAY_MS) % DAY_MS;
  return chance.between(2, DAYS_AHEAD) * DAY_MS + timeOfDay;
}

const when = (starts_ms: number, length: number) => ({
  starts: zonedTimestamp(starts_ms),
  ends: zonedTimestamp(starts_ms + length),
  starts_ms,
  ends_ms: starts_ms + length,
});

const openings = [
  '不需要经验，带上好奇心就行。',
  '人数不多，可以慢慢聊。',
  '雨天照常，室内进行。',
  '迟到十分钟以内都等你。',
];
const middles = [
  '我们会先花半小时互相认识，再分成小组。',
  '现场备有热茶和一些点心，请自带杯子。',
  '材料由组织者准备，结束后可以带走自己的那一份。',
  '中间休息一刻钟，窗外能看见老槐树。',
];
const endings = [
  '结束后愿意的人一起收拾场地。',
  '下一期的主题由大家当场投票。',
  '如果临时不能来，请把名额让给别人。',
  '照片会在一周之内发给参加的人。',
];

/** Longer than its abstract. */
function contentOf(chance: Chance, title: string): string {
  const paragraphs = [
    `「${title}」欢迎第一次来的朋友。`,
    ...chance.some(openings, 3),
    ...chance.some(middles, 4),
    ...chance.some(endings, 3),
  ];
  return paragraphs.join('\n');
}

/** Organisations have pages of their own. */
function seedSites(db: Database, facts: readonly EventFacts[]): Map<string, Person> {
  const names = [...new Set(facts.flatMap((fact) => (fact.owner_type === 'site' && fact.owner ? [fact.owner] : [])))];
  const rows = names.map((name, n) => personRow(2_000_001 + n, `site-${n + 1}`, name, 'site'));
  for (const row of rows) db.insert('people', row);
  return new Map(rows.map((row) => [row.name, row]));
}

/** Users who only participate in events. */
function seedGuests(db: Database, city: CityFacts): Person[] {
  const rows = Array.from({ length: 50 }, (_, n) => ({
    ...personRow(1_000_501 + n, `guest-${n + 1}`, `过客${n + 1}`, 'user'),
    city_id: city.id,
    loc_id: city.v2_loc_id,
    loc_name: city.name,
  }));
  for (const row of rows) db.insert('people', row);
  return rows;
}

const personRow = (id: number, uid: string, name: string, type: Person['type']): Person => ({
  id: String(id),
  uid,
  name,
  signature: '',
  intro: '',
  homepage: '',
  city_id: null,
  loc_id: '',
  loc_name: '',
  created: '2010-01-01 12:00:00',
  type,
  is_banned: 0,
});
