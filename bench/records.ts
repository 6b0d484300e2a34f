/**
 * The records of the benchmark's upstream: generated from their ids alone, with the sizes of those of the real service.
 * The upstream responds with them, and the benchmark computes the expected results from them.
 */
import type { BookRecord, CollectionRecord, ImageSet, TagRecord } from '../src/api/book.ts';
import type { AtomPerson, EventRecord } from '../src/api/event.ts';
import type {
  CelebrityRecord,
  FilmReviewRecord,
  PersonCredit,
  PhotoRecord,
  SubjectRecord,
  WorkRecord,
} from '../src/api/film.ts';

export const SHELF = 20;
export const BOOK_TAGS = 50;
export const FILMS = 250;
/** With this number, a chart page of 20 films has 54.7 different people on average: 75.7 calls. */
const PERSONS = 120;
const CASTS = 4;

export function book(id: number): BookRecord {
  const [say, among] = voice(`book ${id}`);
  return {
    rating: { max: 10, numRaters: among(90_000), average: average(id), min: 0 },
    subtitle: say(6),
    author: [say(4)],
    pubdate: `${1990 + (id % 30)}-${1 + (id % 12)}`,
    tags: bookTags(id)
      .slice(0, 8)
      .map(({ count, title }) => ({ count, name: title, title })),
    origin_title: say(5),
    image: `https://img3.example.org/mpic/s${id}.jpg`,
    binding: '平装',
    translator: [say(3)],
    catalog: Array.from({ length: 9 }, (_, chapter) => `第${chapter + 1}章 ${say(5)}`).join('\n'),
    pages: String(100 + among(600)),
    images: images('book', id),
    alt: `https://book.example.org/subject/${id}/`,
    id: String(id),
    publisher: `${say(2)}出版社`,
    isbn10: String(7_000_000_000 + id),
    isbn13: String(9_787_000_000_000 + id),
    title: `书${id} ${say(5)}`,
    url: `https://api.example.org/v2/book/${id}`,
    alt_title: say(5),
    author_intro: say(160),
    summary: say(240),
    price: `${20 + among(60)}.00元`,
  };
}

export function bookTags(id: number): TagRecord[] {
  const [say] = voice(`tags ${id}`);
  return Array.from({ length: BOOK_TAGS }, (_, at) => ({ count: 500 - 9 * at + (id % 7), title: say(2 + (at % 3)) }));
}

export function collections(user: number): CollectionRecord[] {
  return Array.from({ length: SHELF }, (_, at) => {
    const id = user * SHELF + at;
    return {
      status: 'read',
      updated: `2026-03-${String(1 + at).padStart(2, '0')} 12:00:00`,
      user_id: String(user),
      book: book(id),
      book_id: String(id),
      id: 1_000_000 + id,
    };
  });
}

/** Members of a film in a list. */
export function simpleFilm(id: number): SubjectRecord {
  const { rating, title, original_title, subtype, year, images, alt } = film(id);
  return {
    rating: rating!,
    title,
    original_title: original_title!,
    subtype: subtype!,
    year: year!,
    images: images!,
    alt: alt!,
    id: String(id),
  };
}

const films = new Map<number, SubjectRecord>();
export function film(id: number): SubjectRecord {
  let made = films.get(id);
  if (!made) films.set(id, (made = makeFilm(id)));
  return made;
}

function makeFilm(id: number): SubjectRecord {
  const [say, among] = voice(`film ${id}`);
  const people = personsOf(id).map(credit);
  return {
    rating: { max: 10, average: Number(average(id)), stars: '45', min: 0 },
    reviews_count: among(9_000),
    wish_count: among(90_000),
    original_title: `Film ${id}`,
    blooper_urls: urls('blooper', id),
    collect_count: among(900_000),
    images: images('film', id),
    douban_site: '',
    year: String(1960 + (id % 60)),
    alt: `https://movie.example.org/subject/${id}/`,
    id: String(id),
    mobile_url: `https://movie.example.org/subject/${id}/mobile`,
    pubdate: '2019-02-05',
    title: `电影${id} ${say(4)}`,
    do_count: null,
    seasons_count: null,
    languages: ['汉语普通话', '英语', '俄语'],
    schedule_url: '',
    writers: Array.from({ length: 3 }, (_, at) => credit(at)),
    pubdates: ['2019-02-05(中国大陆)'],
    website: '',
    durations: ['125分钟'],
    genres: ['科幻', '冒险', '灾难'],
    trailer_urls: urls('trailer', id),
    episodes_count: null,
    casts: people.slice(1),
    countries: ['中国大陆'],
    mainland_pubdate: '2019-02-05',
    photos: photos(id),
    summary: say(400),
    clip_urls: urls('clip', id),
    subtype: 'movie',
    directors: people.slice(0, 1),
    comments_count: among(500_000),
    popular_reviews: Array.from({ length: 10 }, (_, at) => review(id, at)),
    ratings_count: among(900_000),
    aka: [say(5)],
    current_season: null,
  };
}

export function celebrity(id: number): CelebrityRecord {
  const [say] = voice(`person ${id}`);
  const { name, name_en, alt, avatars } = credit(id);
  return {
    website: '',
    mobile_url: `https://movie.example.org/celebrity/${id}/mobile`,
    aka_en: [`P. ${id}`],
    name,
    works: worksOf(id),
    name_en: name_en!,
    gender: '男',
    professions: ['演员', '导演', '编剧'],
    avatars: avatars!,
    summary: say(1640),
    photos: photos(id),
    birthday: '1970-01-01',
    aka: [say(3)],
    alt: alt!,
    born_place: '中国,北京',
    constellation: '摩羯座',
    id: String(id),
  };
}

export function worksOf(person: number): WorkRecord[] {
  return Array.from({ length: 5 }, (_, at) => ({
    roles: ['演员'],
    subject: simpleFilm(1 + ((person * 7 + at * 31) % FILMS)),
  }));
}

const credits = new Map<number, PersonCredit>();
function credit(id: number): PersonCredit {
  let made = credits.get(id);
  if (!made) {
    const [say] = voice(`name ${id}`);
    const avatars = images('person', id);
    credits.set(
      id,
      (made = {
        avatars,
        name_en: `Person ${id}`,
        name: say(4),
        alt: `https://movie.example.org/celebrity/${id}/`,
        id: String(id),
      }),
    );
  }
  return made;
}

/** A director and {@link CASTS} actors; a few people are in very many films, most in few. */
function personsOf(film: number): number[] {
  const [, among] = voice(`credits ${film}`);
  const named = new Set<number>();
  while (named.size < 1 + CASTS) named.add(1 + Math.floor(PERSONS * (among(10_000) / 10_000) ** 3));
  return [...named];
}

export function searchedFilms(query: string): SubjectRecord[] {
  const first = hash(query) % FILMS;
  return Array.from({ length: 20 }, (_, at) => simpleFilm(1 + ((first + at * 11) % FILMS)));
}

export const chart = (start: number, count: number): SubjectRecord[] =>
  Array.from({ length: Math.max(0, Math.min(count, FILMS - start)) }, (_, at) => simpleFilm(1 + start + at));

export function cityEvents(city: string, count: number): EventRecord[] {
  return Array.from({ length: count }, (_, at) => event(10_000 + (hash(city) % 50_000) + at, city));
}

function event(id: number, city: string): EventRecord {
  const [say, among] = voice(`event ${id}`);
  return {
    id: String(id),
    title: `活动${id} ${say(10)}`,
    term: 'http://www.douban.com/2007#event.music',
    links: {
      self: `http://api.example.org/event/${id}`,
      alternate: `http://www.example.org/event/${id}/`,
      image: `http://img3.example.org/mpic/e${id}.jpg`,
    },
    summary: say(60),
    content: say(41),
    invite_only: 'no',
    can_invite: 'no',
    participants: String(among(900)),
    wishers: String(among(900)),
    album: String(among(9_000_000)),
    location: { id: city, name: '北京' },
    startTime: `2026-1${id % 3}-18T19:30:00+08:00`,
    endTime: `2026-1${id % 3}-18T21:30:00+08:00`,
    where: `北京 ${say(9)}`,
    point: '39.904213 116.40741',
  };
}

export function participants(event: number, count: number): AtomPerson[] {
  return Array.from({ length: count }, (_, at) => {
    const id = 9_000_000 + event * 10 + at;
    const [say] = voice(`user ${id}`);
    return {
      id: String(id),
      uid: `user-${id}`,
      name: `用户${say(4)}`,
      content: '',
      links: {
        self: `http://api.example.org/people/${id}`,
        alternate: `http://www.example.org/people/user-${id}/`,
        icon: `http://t.example.org/icon/u${id}-1.jpg`,
      },
      location: { id: 'beijing', name: '北京' },
    };
  });
}

const average = (id: number) => (5 + ((id * 37) % 49) / 10).toFixed(1);

const images = (what: string, id: number): ImageSet => ({
  small: `https://img3.example.org/view/${what}/m/public/p${id}.webp`,
  large: `https://img3.example.org/view/${what}/m/public/p${id}.webp`,
  medium: `https://img3.example.org/view/${what}/m/public/p${id}.webp`,
});

const urls = (what: string, id: number) =>
  Array.from({ length: 4 }, (_, at) => `https://movie.example.org/${what}/${id}${at}/#content`);

const photos = (of: number): PhotoRecord[] =>
  Array.from({ length: 10 }, (_, at) => {
    const id = of * 10 + at;
    const size = (name: string) => `https://img3.example.org/view/photo/${name}/public/p${id}.webp`;
    return {
      thumb: size('m'),
      image: size('l'),
      cover: size('sqs'),
      alt: `https://movie.example.org/photos/photo/${id}/`,
      id: String(id),
      icon: size('s'),
    };
  });

function review(film: number, at: number): FilmReviewRecord {
  const [say] = voice(`review ${film} ${at}`);
  const id = film * 10 + at;
  return {
    rating: { max: 5, value: 1 + (at % 5), min: 0 },
    title: say(10),
    subject_id: String(film),
    author: {
      uid: `user-${id}`,
      avatar: `https://img3.example.org/icon/u${id}-3.jpg`,
      signature: say(8),
      alt: `https://www.example.org/people/${id}/`,
      id: String(id),
      name: say(4),
    },
    summary: say(180),
    alt: `https://movie.example.org/review/${id}/`,
    id: String(id),
  };
}

// Common characters of three bytes each, as in the records of the real service.
const CHARACTERS =
  '的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严';

/** Generated words, and numbers below a bound, always the same for a seed. */
function voice(seed: string): [say: (length: number) => string, among: (below: number) => number] {
  let state = hash(seed) || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>>= 0);
  };
  for (let i = 0; i < 8; i++) next();
  const among = (below: number) => next() % below;
  const say = (length: number) => {
    let text = '';
    for (let i = 0; i < length; i++) text += i % 23 === 22 ? '，' : CHARACTERS[among(CHARACTERS.length)];
    return text;
  };
  return [say, among];
}

/** FNV-1a. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}
