/** An outage never looks like absence: what a failed call costs is null beside an error at its place, and comes back with the service. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isRequiredArgument,
} from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { nodeTypeOf } from '../../src/engine/plan/read-declarations.ts';
import { failing, failures } from '../support/outages.ts';
import { everyNth, sampleOf, thorough } from '../support/optional.ts';
import { service as origin } from '../support/service.ts';

const node = schema.getType('Node');
/** The demo has no event of an organization. */
const nodeTypes = (isInterfaceType(node) ? schema.getPossibleTypes(node) : []).filter(
  ({ name }) => name !== 'Organization',
);

/** An object of each type, from the demo. */
const find = `{
  Book: book(id: "6082808") { id }
  Series: book(id: "6082808") { series { id } }
  Subject: subject(id: "26266893") { id }
  Celebrity: celebrity(id: "1000525") { id }
  City: city(id: "beijing") { id }
  User: user(id: "1000001") { id }
  Event: city(id: "beijing") { events(first: 1) { nodes { id } } }
  Annotation: book(id: "6082808") { annotations(first: 1) { nodes { id } } }
  Collection: user(id: "alice") { bookCollections(first: 1) { nodes { id } } }
  Note: user(id: "alice") { notes(first: 1) { nodes { id } } }
  NoteComment: user(id: "alice") { notes(first: 20) { nodes { comments(first: 1) { nodes { id } } } } }
}`;
const ids = new Map<string, string>();
let service: ReturnType<typeof failing>;
const token = 'demo-alice';
beforeAll(async () => {
  service = failing((await origin()).url);
  const { data, errors } = await service.facade()(find, { token });
  expect(errors).toBeUndefined();
  for (const { name } of nodeTypes)
    ids.set(name, new RegExp(`"(${name}:[^"]+)"`).exec(JSON.stringify(data))?.[1] ?? '');
});

/** What is selected of a field that is no leaf. */
function below(field: GraphQLField<unknown, unknown>): string {
  const named = getNamedType(field.type);
  if (isLeafType(named)) return '';
  if (nodeTypeOf(field)) return '{ nodes { __typename } }';
  if (isAbstractType(named)) return '{ __typename }';
  const fields = Object.values((named as GraphQLObjectType).getFields());
  const own = fields.filter(({ type, args }) => isLeafType(getNamedType(type)) && args.length === 0);
  return `{ ${(own.length > 0 ? own.map(({ name }) => name) : ['__typename']).join(' ')} }`;
}
const argumentsOf = (field: GraphQLField<unknown, unknown>) =>
  field.args.some(({ name }) => name === 'first') ? '(first: 1)' : '';

/** Each field of a type alone, all its leaves, and each list with a leaf beside it; at once, and in a later part of the response. */
function selectionsOf(type: GraphQLObjectType): string[] {
  const fields = Object.values(type.getFields()).filter(
    (field) => !field.args.some((argument) => isRequiredArgument(argument)) && field.name !== 'id',
  );
  const print = (field: GraphQLField<unknown, unknown>) => `${field.name}${argumentsOf(field)} ${below(field)}`;
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)) && field.args.length === 0);
  const inner = fields.filter((field) => !isLeafType(getNamedType(field.type)));
  const all = leaves.map(({ name }) => name).join(' ');
  return [
    '__typename',
    'id',
    all,
    ...sampleOf(leaves, 4).map(({ name }) => name),
    ...inner.map(print),
    ...sampleOf(inner, 2).map((field) => `${all} ${print(field)}`),
    `id ... @defer { ${all} }`,
    ...sampleOf(inner, 2, 1).map((field) => `id ... @defer { ${print(field)} }`),
  ];
}
const cases = nodeTypes.flatMap((type) => selectionsOf(type).map((selection) => ({ type: type.name, selection })));

/** Named by `node`, or by the field of the query for its type, if there is one. */
function queryOf(name: string, selection: string, round: number): string {
  const id = `(id: "${ids.get(name)}")`;
  const own = Object.values(schema.getQueryType()!.getFields()).find(
    ({ type, args }) => getNamedType(type).name === name && args.some((argument) => argument.name === 'id'),
  );
  if (own && round % 2 > 0) return `{ node: ${own.name}${id} { ${selection} } }`;
  return `{ node${id} { ... on ${name} { ${selection} } } }`;
}

type Path = readonly (string | number)[];

/** The places at which `lost` lacks what `whole` has. What a later part of the response should have had is missing with all of the part. */
function losses(whole: unknown, lost: unknown, path: Path = []): Path[] {
  if (whole === null || whole === undefined) return [];
  if (lost === null) return [path];
  if (lost === undefined) return [path.slice(0, -1)];
  if (Array.isArray(whole)) {
    const others = lost as unknown[];
    return others.length < whole.length ? [path] : whole.flatMap((item, at) => losses(item, others[at], [...path, at]));
  }
  if (typeof whole !== 'object') return whole === lost ? [] : [path];
  return Object.entries(whole).flatMap(([key, value]) =>
    losses(value, (lost as Record<string, unknown>)[key], [...path, key]),
  );
}
/** Null if it cannot be found out, as its description says. */
const isUnknown = (path: Path): boolean => path.at(-1) === 'isPrivate';
const begins = (path: Path, start: Path): boolean => start.every((key, at) => path[at] === key);

test('every type of a node has an object in the demo', () => {
  expect([...ids].filter(([, id]) => id === '')).toEqual([]);
  expect(cases.length).toBeGreaterThan(150);
});

/** The service of events has no codes of errors: its 404 says that there is no such record. */
const fails = (what: string, path: string): boolean => what !== "a gateway's 404" || path.startsWith('/v2/');
const remembering = { recordTtlSeconds: 60 };

test.each(nodeTypes.map(({ name }) => name))('of %s, whichever call fails, and however', async (name) => {
  const silent: string[] = [];
  const kinds = Object.entries(failures);
  const own = sampleOf(
    cases.filter(({ type }) => type === name),
    2,
  );
  for (const [round, { selection }] of own.entries()) {
    const query = queryOf(name, selection, round);
    service.begin();
    const whole = await service.facade()(query, { token });
    expect([query, whole.errors]).toEqual([query, undefined]);
    const times = service.calls();
    // All calls, or one of them.
    for (let nth = -1; nth < times; nth++)
      // Each call in each selection fails in two or three ways, in its next one in others.
      for (const [what, failure] of everyNth(kinds, thorough ? 4 : kinds.length, round + nth)) {
        const execute = service.facade(remembering);
        service.begin((at, path) => ((nth === -1 || at === nth) && fails(what, path) ? failure : undefined));
        const { data, errors = [] } = await execute(query, { token });
        const places = losses(whole.data, data).filter(
          (place) => !isUnknown(place) && !errors.some(({ path = [] }) => begins(path, place)),
        );
        const words = `${query} with ${what} of ${nth < 0 ? 'all calls' : `call ${nth}`}`;
        if (places.length > 0) silent.push(`${words}: ${places.map((path) => path.join('.')).join(', ')}`);
        // The service has asked for a pause, or has told the tier.
        if (what === 'a rate limit' || what === 'a rejection') continue;
        service.begin();
        const later = await execute(query, { token });
        if (later.errors || losses(whole.data, later.data).length > 0)
          silent.push(`afterwards ${words}: ${JSON.stringify(later)}`);
      }
  }
  expect(silent).toEqual([]);
});
