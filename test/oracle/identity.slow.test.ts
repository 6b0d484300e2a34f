/** An object has one value in each field, by all paths that lead to it, whether the field is asked for alone or with others. */
import { join } from 'node:path';
import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { configWith } from '../support/config.ts';
import { schema } from '../../src/graph/schema.ts';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { openSqlite } from '../../src/origin/store/database/sqlite.ts';
import { createPipeline } from '../../src/server/graphql/pipeline.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { everyNth, thorough } from '../support/optional.ts';
import { service } from '../support/service.ts';
import { execute, parsed } from './clients.ts';
import { type Conflict, Identities, claimsIn } from './identity.ts';
import { conflictingFields, phantomFields } from './known.ts';
import type { Product } from './product.ts';
import { type Path, type PathStep, along, hasId, pathsTo } from './paths.ts';
import { tokenOf } from './world.ts';

const origin = await service();
const config = configWith(
  { BASE_URL: origin.url, EVENT_BASE_URL: origin.url, ACCESS_TOKEN: 'demo-app', FILM_TIER: 'advance' },
  { maxUpstreamCalls: '5000', maxItems: '100000', maxValues: '1000000' },
);
const upstream = createUpstream(catalogService, { ...config, baseUrl: origin.url, eventBaseUrl: origin.url });
const pipeline = createPipeline({ schema, config, upstream, log: pino({ level: 'silent' }) });
const db = openSqlite(join(origin.dataDir, 'origin.db'));
afterAll(async () => {
  await upstream.close();
  db.close();
});

const client = { via: 'pipeline' };

async function ask(query: string, person: string | null) {
  const operation = { document: query, variables: {}, person, client };
  return (await execute({ pipeline } as Product, operation as never, 'test'))!;
}

/** Arguments that name something of the demo data, by coordinate. */
const named: Record<string, string> = {
  'Query.annotation': 'id: "32072061"',
  'Query.book': 'id: "6082808"',
  'Query.bookByIsbn': 'isbn: "9787544253994"',
  'Query.celebrity': 'id: "1047973"',
  'Query.city': 'id: "beijing"',
  'Query.event': 'id: "10504885"',
  'Query.note': 'id: "244600053"',
  'Query.organization': 'id: "site-9"',
  'Query.searchBooks': 'query: "百年"',
  'Query.searchEvents': 'query: "音乐"',
  'Query.searchSubjects': 'query: "的"',
  'Query.series': 'id: "10489"',
  'Query.subject': 'id: "1292052"',
  'Query.user': 'id: "alice"',
  'Book.collection': 'userId: "alice"',
  'User.bookCollection': 'bookId: "6082808"',
  'Note.noteComment': 'id: "1"',
};
const nodes: Record<string, string> = {
  Annotation: '32072061',
  Book: '6082808',
  Celebrity: '1047973',
  City: 'beijing',
  Collection: 'alice:6082808',
  Event: '10504885',
  Note: '244600053',
  NoteComment: '244600053:1',
  Organization: 'site-9',
  Series: '10489',
  Subject: '1292052',
  User: '1000001',
};

/** A page of a list, as arguments. */
type PageArguments = Readonly<Record<string, number>>;
const [small, large, later]: PageArguments[] = [{ first: 2 }, { first: 6 }, { first: 2, offset: 1 }];

const argumentsFor =
  (page: PageArguments) =>
  ({ parent, field, type }: PathStep): string => {
    const coordinate = `${parent.name}.${field.name}`;
    const global = `"${type.name}:${nodes[type.name]}"`;
    const given =
      coordinate === 'Query.node'
        ? `id: ${global}`
        : coordinate === 'Query.nodes'
          ? `ids: [${global}]`
          : named[coordinate];
    const ofPage = Object.entries(page).filter(([name]) => field.args.some((arg) => arg.name === name));
    const all = [given, ...ofPage.map(([name, value]) => `${name}: ${value}`)].filter(Boolean);
    return all.length > 0 ? `(${all.join(', ')})` : '';
  };

/** A selection of each leaf field, those of objects without an id included, and of the id of each object below. */
function leavesOf(type: GraphQLObjectType, depth = 2): string[] {
  return Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined)) return [];
    const of = getNamedType(field.type);
    if (isLeafType(of)) return [field.name, ...variantsOf(field)];
    if (!isObjectType(of)) return [`${field.name} { __typename }`];
    if (hasId(of)) return [`${field.name} { id }`];
    if (depth === 0) return [];
    const isList = field.args.some(({ name }) => name === 'first');
    return leavesOf(of, isList ? 0 : depth - 1).map((leaf) => `${field.name}${isList ? '(first: 2)' : ''} { ${leaf} }`);
  });
}

/** The field with each value of an argument that has a few. */
const variantsOf = ({ name, args }: GraphQLField<unknown, unknown>): string[] =>
  args.flatMap(({ name: argument, type }) => {
    const of = getNamedType(type);
    if (!isEnumType(of)) return [];
    return of.getValues().map((value) => `${name}_${value.name}: ${name}(${argument}: ${value.name})`);
  });

/** Paths with at most so many objects with an id. Those below `nodes` are those below `node`. */
const LONGEST = 2;
const paths = [...pathsTo(schema, LONGEST)].flatMap(([name, all]) =>
  all.flatMap((path): [string, Path][] => (path.length > 1 && path[0]!.field.name === 'nodes' ? [] : [[name, path]])),
);
const leaves = new Map(paths.map(([name]) => [name, leavesOf(schema.getType(name) as GraphQLObjectType)]));

/** Of the cases, one in so many runs; `IDENTITY_SAMPLE=1` runs all three million comparisons, which takes half an hour. */
const SAMPLE = Number(process.env.IDENTITY_SAMPLE ?? (thorough ? 200 : 400));
const LEAF_SAMPLE = Math.ceil(SAMPLE / 10);

/** Each leaf field by each path. */
const cases = paths.flatMap(([name, path]) => leaves.get(name)!.map((leaf) => ({ path, leaf })));

const alone = ({ path, leaf }: (typeof cases)[number], page: PageArguments, alias = ''): string =>
  along(path, leaf, argumentsFor(page), alias);
/** In a page of another size, beside the same field in a page that overlaps it. */
const beside = (each: (typeof cases)[number]): string => `${alone(each, small!, 'a: ')} ${alone(each, later!, 'b: ')}`;

const people = ['alice', 'bob', 'carol'];
const firstOnShelf = db.prepare(
  'SELECT book_id AS book FROM collections WHERE person_id = (SELECT id FROM people WHERE uid = ?) LIMIT 1',
);
/** A book on the shelf of each. */
const shelved = new Map(people.map((uid) => [uid, (firstOnShelf.get(uid) as { book: string }).book]));

const IDS_AT_ONCE = 10;
/** The basic tier allows forty film calls a minute. */
const QUERIES_A_TOKEN = 3;

/** What one person reads. `isNamed`: with tokens of which the process knows whose they are. */
class Reader {
  readonly conflicts: Conflict[] = [];
  readonly identities = new Identities();
  /** By type. */
  readonly ids = new Map<string, Set<string>>();
  private readonly person: string | null;
  private readonly isNamed: boolean;
  private token: string | null = null;
  private queries = 0;

  constructor(person: string | null, isNamed: boolean) {
    this.person = person;
    this.isNamed = isNamed;
  }

  async read(selection: string): Promise<void> {
    const query = `{ ${selection} }`;
    if (this.person !== null && this.queries++ % (this.isNamed ? QUERIES_A_TOKEN : 1) === 0)
      await this.changeToken(this.person);
    const response = await ask(query, this.token);
    const claims = claimsIn({ document: parsed(query), variables: {}, isNamed: this.isNamed }, response);
    for (const { value } of claims) {
      const [, id, name] = /^→((\w+):.+)$/.exec(value) ?? [];
      if (id !== undefined) this.ids.set(name!, (this.ids.get(name!) ?? new Set()).add(id));
    }
    this.conflicts.push(...this.identities.add(claims, query));
  }

  private async changeToken(person: string): Promise<void> {
    this.token = `${person}-${this.isNamed ? 'named' : 'unknown'}-${this.queries}`;
    const insert = 'INSERT INTO tokens SELECT ?, person_id, tier, scopes, 0 FROM tokens WHERE token = ?';
    db.prepare(insert).all(tokenOf(this.token), `demo-${person}`);
    if (this.isNamed) await ask(`{ book(id: "${shelved.get(person)}") { viewerCollection { status } } }`, this.token);
  }

  /** By their ids, the objects that were seen. */
  async readNodes(): Promise<void> {
    for (const [name, seen] of this.ids) {
      const type = schema.getType(name) as GraphQLObjectType;
      if (!type.getInterfaces().some((each) => each.name === 'Node')) continue;
      const all = [...seen];
      for (const leaf of everyNth(leavesOf(type), LEAF_SAMPLE))
        for (let at = 0; at < all.length; at += IDS_AT_ONCE) {
          const ids = JSON.stringify(all.slice(at, at + IDS_AT_ONCE));
          await this.read(`nodes(ids: ${ids}) { __typename ... on ${name} { id ${leaf} } }`);
        }
    }
  }
}

const readers = [
  ...people.flatMap((person) => [[person, false] as const, [person, true] as const]),
  [null, true] as const,
];

test.each(readers)(
  'a field has one value alone and with others, by each path and in each page: %s, named before: %s',
  async (person, isNamed) => {
    const round = readers.findIndex(([each, is]) => each === person && is === isNamed);
    const reader = new Reader(person, isNamed);
    for (const [name, path] of everyNth(paths, SAMPLE, round))
      await reader.read(along(path, leaves.get(name)!.join(' '), argumentsFor(large!)));
    for (const each of everyNth(cases, SAMPLE, round)) {
      if (isNamed) await reader.read(alone(each, large!));
      await reader.read(beside(each));
    }
    await reader.readNodes();
    if (SAMPLE === 1)
      console.log(`${person}: ${reader.identities.compared} comparisons, ${reader.conflicts.length} differ`);
    const byField = new Map<string, Conflict[]>();
    for (const each of reader.conflicts) byField.set(each.coordinate, [...(byField.get(each.coordinate) ?? []), each]);
    // Each with an example.
    expect([...byField].flatMap(([name, [one]]) => (conflictingFields.includes(name) ? [] : [one]))).toEqual([]);
    expect(reader.identities.compared).toBeGreaterThan(40_000 / SAMPLE);
  },
  1_800_000,
);

test.each([
  ['user', 'user(id: "nobody-at-all") { id name bookCollections { totalCount } events { totalCount } }', null],
  ['city', 'city(id: "atlantis") { id name events { totalCount } }', null],
  ['series', 'series(id: "1") { id books { totalCount } }', null],
  ['node', 'node(id: "User:nobody-at-all") { id ... on User { name annotations { totalCount } } }', null],
  ['nodes', 'nodes(ids: ["City:atlantis"]) { id ... on City { events { totalCount } } }', [null]],
])('%s returns no object of which every call says that there is none', async (name, field, right) => {
  const { data, errors } = await ask(`{ ${field} }`, null);
  expect(errors).toBeUndefined();
  if (phantomFields.includes(name)) expect(data).not.toEqual({ [name]: right });
  else expect(data).toEqual({ [name]: right });
});
