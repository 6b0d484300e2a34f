/** An object has one value in each field, by all paths that lead to it. */
import { type GraphQLObjectType, getNamedType, isLeafType, isNonNullType, isObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { journey } from '../support/journey.ts';
import { sampleOf, thorough } from '../support/optional.ts';
import { type Conflict, Identities, claimsIn } from './identity.ts';
import { conflictingFields, phantomFields } from './known.ts';
import { type Path, type PathStep, along, hasId, pathsTo } from './paths.ts';

const here = await journey({ maxUpstreamCalls: '2000' });

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

function argumentsOf({ parent, field, type }: PathStep): string {
  const coordinate = `${parent.name}.${field.name}`;
  const global = `"${type.name}:${nodes[type.name]}"`;
  const given =
    coordinate === 'Query.node'
      ? `id: ${global}`
      : coordinate === 'Query.nodes'
        ? `ids: [${global}]`
        : named[coordinate];
  const all = [given, field.args.some(({ name }) => name === 'first') ? 'first: 6' : undefined].filter(Boolean);
  return all.length > 0 ? `(${all.join(', ')})` : '';
}

/** All leaf fields, those of objects without an id included. */
function leavesOf(type: GraphQLObjectType, depth = 2): string[] {
  return Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined)) return [];
    const of = getNamedType(field.type);
    if (isLeafType(of)) return [field.name];
    if (!isObjectType(of)) return [`${field.name} { __typename }`];
    if (hasId(of)) return [`${field.name} { id }`];
    if (/(?:Connection|Changes)$/.test(of.name) || depth === 0) return [];
    const below = leavesOf(of, depth - 1);
    return below.length > 0 ? [`${field.name} { ${below.join(' ')} }`] : [];
  });
}

/** Paths with at most so many objects with an id. */
const LONGEST = 2;
const paths = sampleOf(
  [...pathsTo(schema, LONGEST)].flatMap(([name, all]) => all.map((path): [string, Path] => [name, path])),
  8,
);

interface Found {
  conflicts: Conflict[];
  values: number;
}

async function readAll(token: string): Promise<Found> {
  const identities = new Identities();
  const ids = new Map<string, Set<string>>();
  const found: Found = { conflicts: [], values: 0 };
  const read = async (query: string): Promise<void> => {
    const response = await here.execute(query, { token });
    const claims = claimsIn({ document: parse(query), variables: {} }, response);
    for (const { value } of claims) {
      const [, id, name] = /^→((\w+):.+)$/.exec(value) ?? [];
      if (id !== undefined) ids.set(name!, (ids.get(name!) ?? new Set()).add(id));
    }
    found.conflicts.push(...identities.add(claims, query));
  };
  for (const [name, path] of paths) {
    const leaves = leavesOf(schema.getType(name) as GraphQLObjectType);
    // All at once, and without half of the siblings.
    for (const some of [leaves, leaves.filter((_, at) => at % 2 === 0), leaves.filter((_, at) => at % 2 === 1)])
      await read(`{ ${along(path, some.join(' '), argumentsOf)} }`);
  }
  for (const [name, seen] of ids) {
    const type = schema.getType(name) as GraphQLObjectType;
    if (!type.getInterfaces().some((each) => each.name === 'Node')) continue;
    const all = [...seen];
    for (let at = 0; at < all.length; at += IDS_AT_ONCE)
      await read(
        `{ nodes(ids: ${JSON.stringify(all.slice(at, at + IDS_AT_ONCE))}) { __typename ... on ${name} { ${leavesOf(type).join(' ')} } } }`,
      );
  }
  return { ...found, values: identities.size };
}
const IDS_AT_ONCE = 10;

test('an object has one value in each field by every path that leads to it, for two callers', async () => {
  const conflicts: Conflict[] = [];
  for (const token of ['demo-alice', 'demo-carol']) {
    const found = await readAll(token);
    conflicts.push(...found.conflicts);
    expect(found.values, token).toBeGreaterThan(500);
  }
  const byField = new Map<string, Conflict[]>();
  for (const each of conflicts) byField.set(each.coordinate, [...(byField.get(each.coordinate) ?? []), each]);
  // Each with an example.
  expect([...byField].flatMap(([name, [one]]) => (conflictingFields.includes(name) ? [] : [one]))).toEqual([]);
  if (thorough) expect(conflictingFields.filter((name) => !byField.has(name))).toEqual([]);
});

test.each([
  ['user', 'user(id: "nobody-at-all") { id name bookCollections { totalCount } events { totalCount } }', null],
  ['city', 'city(id: "atlantis") { id name events { totalCount } }', null],
  ['series', 'series(id: "1") { id books { totalCount } }', null],
  ['node', 'node(id: "User:nobody-at-all") { id ... on User { name annotations { totalCount } } }', null],
  ['nodes', 'nodes(ids: ["City:atlantis"]) { id ... on City { events { totalCount } } }', [null]],
])('%s returns no object of which every call says that there is none', async (name, field, right) => {
  const { data, errors } = await here.execute(`{ ${field} }`, { token: 'demo-alice' });
  expect(errors).toBeUndefined();
  if (phantomFields.includes(name)) expect(data).not.toEqual({ [name]: right });
  else expect(data).toEqual({ [name]: right });
});
