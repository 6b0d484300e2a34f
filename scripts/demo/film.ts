import type { Database } from '../../src/origin/store/database/database.ts';
import type { Stored, Tables } from '../../src/origin/store/database/schema.ts';
import { createChance } from '../../src/origin/store/seed/chance.ts';
import { seedCelebrityPhotos, seedOpinions } from './film-opinions.ts';
import type { CityFacts, SeedPeople } from './people.ts';

interface PersonFacts {
  id: string | null;
  name: string;
}
type SubjectRow = Stored<'subjects'>;
type CelebrityRow = Stored<'celebrities'>;
type CreditRow = Stored<'credits'>;

export interface FilmFacts
  extends
    Pick<SubjectRow, 'id' | 'title' | 'original_title' | 'year' | 'subtype' | 'mainland_pubdate'>,
    Pick<SubjectRow, 'rating_average' | 'rating_stars' | 'collect_count'>,
    Record<'aka' | 'genres' | 'countries' | 'languages' | 'durations' | 'pubdates', string[]>,
    Record<CreditRow['job'], PersonFacts[]> {
  top250_rank?: number | null;
  current_season?: number | null;
  episodes_count?: number | null;
}
export interface CelebrityFacts
  extends
    Omit<CelebrityRow, 'aka' | 'aka_en' | 'professions' | 'website' | 'summary'>,
    Record<'aka' | 'aka_en' | 'professions', string[]> {
  works: { film_id: string; roles: string[] }[];
}

/** Films with enough reviews, comments and photos for several pages, and such a celebrity. */
const showcases: ReadonlySet<string> = new Set(['26266893', '1292052']);
const showcaseCelebrity = '1000525';

/** The films of the demo data, all people credited in them, and generated reviews and comments. */
export function seedFilms(
  db: Database,
  films: readonly FilmFacts[],
  celebrities: readonly CelebrityFacts[],
  people: SeedPeople,
  cities: readonly CityFacts[],
) {
  for (const { id, v2_loc_id, name } of cities) {
    db.insert('cities', { id, loc_id: v2_loc_id, name });
  }
  films.forEach((film, n) => {
    db.insert('subjects', { no: n + 1, ...subjectRow(film) });
    const tags = new Set([...film.genres, ...film.countries, film.year].filter(Boolean));
    for (const name of tags) db.insert('subject_tags', { name, subject_id: film.id });
  });
  for (const row of celebrityRows(films, celebrities)) db.insert('celebrities', row);
  for (const row of films.flatMap(creditRows)) db.insert('credits', row);
  const works = workRows(films, celebrities);
  for (const row of works) db.insert('works', row);
  for (const row of chartRows(films, cities)) db.insert('charts', row);
  for (const film of films) seedOpinions(db, film, people, showcases.has(film.id));
  seedCelebrityPhotos(db, works, people, showcaseCelebrity);
}

function subjectRow(film: FilmFacts): Omit<SubjectRow, 'no'> {
  const chance = createChance(`film ${film.id}`);
  const isTv = film.subtype === 'tv';
  const isShowcase = showcases.has(film.id);
  const lists = (texts: readonly string[]) => JSON.stringify(texts.filter(Boolean));
  const { directors, casts, writers, top250_rank, ...facts } = film;
  return {
    ...facts,
    aka: lists(film.aka),
    genres: lists(film.genres),
    countries: lists(film.countries),
    languages: lists(film.languages),
    durations: lists(film.durations),
    pubdates: lists(film.pubdates),
    ratings_count: film.rating_average === 0 ? 0 : Math.floor((film.collect_count * chance.between(60, 85)) / 100),
    wish_count: Math.floor((film.collect_count * chance.between(8, 40)) / 100),
    do_count: isTv ? Math.floor(film.collect_count / chance.between(5, 30)) : null,
    seasons_count: isTv ? (film.current_season ?? 0) : null,
    current_season: isTv ? (film.current_season ?? 0) : null,
    episodes_count: isTv ? (film.episodes_count ?? 0) : null,
    website: isShowcase || chance.oneIn(4) ? `https://film-${film.id}.example/` : '',
    mini_site: isShowcase || chance.oneIn(8) ? `https://site.catalog.example/film-${film.id}/` : '',
    summary: summaryOf(film),
    trailers: isShowcase ? 4 : chance.int(5),
    clips: isShowcase ? 4 : chance.int(4),
    bloopers: isShowcase ? 4 : chance.int(3),
  };
}

/** Generated from the demo data. */
function summaryOf(film: FilmFacts): string {
  const kind = `${film.genres.join('、')}${film.subtype === 'tv' ? '剧集' : '片'}`;
  const names = (people: readonly PersonFacts[]) => people.map((person) => person.name).join('、');
  const parts = [
    `《${film.title}》是${film.year ? `${film.year}年的` : ''}${film.countries.join('、')}${kind}`,
    film.directors.length > 0 ? `由${names(film.directors)}执导` : '',
    film.casts.length > 0 ? `${names(film.casts)}出演` : '',
  ];
  return `${parts.filter(Boolean).join('，')}。`;
}

const creditRows = (film: FilmFacts): CreditRow[] =>
  (['directors', 'casts', 'writers'] as const).flatMap((job) =>
    film[job].map(({ id, name }, position) => ({ subject_id: film.id, job, position, celebrity_id: id, name })),
  );

const professionNames = { directors: '导演', casts: '演员', writers: '编剧' };

/** Every credited person with an id has a record, with the name and profession if the demo data has no more. */
function celebrityRows(films: readonly FilmFacts[], celebrities: readonly CelebrityFacts[]): CelebrityRow[] {
  const rows = new Map(celebrities.map((person) => [person.id, celebrityRow(person)]));
  for (const { celebrity_id: id, name, job } of films.flatMap(creditRows)) {
    if (id === null || rows.has(id)) continue;
    const professions = [professionNames[job]];
    const unknown = { name_en: '', gender: '', birthday: '', born_place: '', constellation: '', aka: [], aka_en: [] };
    rows.set(id, celebrityRow({ id, name, professions, works: [], ...unknown }));
  }
  return [...rows.values()];
}

function celebrityRow({ works: _, ...person }: CelebrityFacts): CelebrityRow {
  const { id, name, birthday, born_place, professions } = person;
  const born = [birthday && `生于${birthday}`, born_place && `出生地${born_place.replaceAll(',', '')}`].filter(Boolean);
  return {
    ...person,
    aka: JSON.stringify(person.aka),
    aka_en: JSON.stringify(person.aka_en),
    professions: JSON.stringify(professions),
    website: id === showcaseCelebrity ? `https://person-${id}.example/` : '',
    summary: professions.length === 0 ? '' : `${[`${name}，${professions.join('、')}`, ...born].join('，')}。`,
  };
}

/** The works of a celebrity in the demo data, and all other credits; the newest first. */
function workRows(films: readonly FilmFacts[], celebrities: readonly CelebrityFacts[]): Stored<'works'>[] {
  const roles = new Map<string, Map<string, Set<string>>>();
  const add = (person: string, film: string, role: string) => {
    const ofPerson = roles.get(person) ?? new Map<string, Set<string>>();
    roles.set(person, ofPerson.set(film, (ofPerson.get(film) ?? new Set()).add(role)));
  };
  const byId = new Map(films.map((film) => [film.id, film]));
  for (const { id, works } of celebrities) {
    for (const work of works) {
      if (byId.has(work.film_id)) for (const role of work.roles) add(id, work.film_id, role);
    }
  }
  for (const { celebrity_id: id, subject_id, job } of films.flatMap(creditRows)) {
    if (id !== null) add(id, subject_id, professionNames[job]);
  }
  const yearOf = (id: string) => Number(byId.get(id)?.year ?? 0);
  return [...roles].flatMap(([celebrity_id, works]) =>
    [...works]
      .sort(([a], [b]) => yearOf(b) - yearOf(a) || Number(b) - Number(a))
      .map(([subject_id, set], position) => ({ celebrity_id, subject_id, position, roles: JSON.stringify([...set]) })),
  );
}

const THEATER_FILMS = 60;
const COMING_FILMS = 48;

function chartRows(films: readonly FilmFacts[], cities: readonly CityFacts[]): Tables['charts'][] {
  const chance = createChance('charts');
  const movies = films.filter((film) => film.subtype === 'movie');
  const newest = movies.toSorted(
    (a, b) =>
      Number(b.year) - Number(a.year) ||
      b.mainland_pubdate.localeCompare(a.mainland_pubdate) ||
      Number(b.id) - Number(a.id),
  );
  const best = movies.toSorted((a, b) => b.rating_average - a.rating_average || b.collect_count - a.collect_count);
  const rows = (
    chart: string,
    list: readonly FilmFacts[],
    more: (n: number) => Partial<Tables['charts']> = () => ({}),
  ) =>
    list.map((film, n) => ({
      chart,
      position: n + 1,
      subject_id: film.id,
      box: null,
      is_new: 0 as const,
      delta: null,
      ...more(n),
    }));

  const american = newest.filter((film) => film.countries.includes('美国')).slice(0, 11);
  let box = 61_500_000;
  const current = newest.filter((film) => film.rating_average > 0);
  return [
    ...rows('top250', ranked(best)),
    ...rows('us_box', american, (n) => ({
      box: (box = Math.floor((box * chance.between(62, 90)) / 1000) * 10),
      is_new: n % 4 === 0 ? 1 : 0,
    })),
    ...rows(
      'weekly',
      current
        .slice(0, 40)
        .toSorted((a, b) => b.rating_average - a.rating_average)
        .slice(0, 10),
      () => ({
        delta: chance.between(-4, 10),
      }),
    ),
    ...rows('new_movies', current.slice(0, 12)),
    // Each city shows a different selection.
    ...cities.flatMap(({ id }, city) =>
      rows(
        `in_theaters/${id}`,
        newest.slice(0, THEATER_FILMS).filter((_, n) => n % (cities.length + 1) !== city + 1),
      ),
    ),
    ...rows('coming_soon', newest.slice(THEATER_FILMS, THEATER_FILMS + COMING_FILMS).toReversed()),
  ];
}

/** Films with a known rank keep it as long as other films can fill the ranks between; the rest is sorted by rating. */
function ranked(best: readonly FilmFacts[]): FilmFacts[] {
  const byRank = new Map(best.flatMap((film) => (film.top250_rank ? [[film.top250_rank, film] as const] : [])));
  const others = best.filter((film) => !film.top250_rank && film.rating_average >= 7);
  const last = Math.max(0, ...byRank.keys());
  const first = Array.from({ length: last }, (_, n) => byRank.get(n + 1) ?? others.shift()).filter(
    (film) => film !== undefined,
  );
  return [...first, ...others];
}
