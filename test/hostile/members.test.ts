// Every field of every response that the graph reads, replaced by wrong values one after another.
import { type GraphQLField, getNamedType, isAbstractType, isLeafType, isRequiredArgument } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { startFacade } from '../support/start-facade.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { type Behaviour, type ReceivedRequest, response } from '../support/hostile.ts';
import { takeConflicts } from '../support/one-value.ts';
import { everyNth, thorough } from '../support/optional.ts';
import { service } from '../support/service.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

/** The depth of the selections. What is one call deeper is covered by another root field. */
const LEVELS = 1;

/** The codes that a field may have for an invalid response. */
const ALLOWED = new Set(['UPSTREAM_INVALID_RESPONSE', 'UPSTREAM_UNAVAILABLE', 'TIER_REQUIRED', 'FORBIDDEN']);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Path = readonly (string | number)[];

const origin = await service();
const notes = (await origin.get('/v2/note/user_created/alice', 'alice')).body.notes as { id: string }[];
const annotations = (await origin.get('/v2/book/6082808/annotations')).body.annotations as { id: string }[];

/** Every root field. */
const roots: Record<string, string> = {
  annotation: `id: "${annotations[0]!.id}"`,
  book: 'id: "6082808"',
  bookByIsbn: 'isbn: "9787544253994"',
  celebrity: 'id: "1054395"',
  city: 'id: "beijing"',
  comingSoon: 'first: 2',
  event: 'id: "30134553"',
  inTheaters: 'first: 2',
  newMovies: '',
  note: `id: "${notes[0]!.id}"`,
  organization: 'id: "site-9"',
  searchBooks: 'query: "百年", first: 2',
  searchEvents: 'query: "电影", first: 2',
  searchSubjects: 'query: "流浪", first: 2',
  series: 'id: "10489"',
  subject: 'id: "1292052"',
  top250: 'first: 2',
  usBoxOffice: '',
  user: 'id: "alice"',
  weeklyChart: '',
};
const wrongValues: readonly (Json | undefined)[] = [null, -7, 'x', [null], {}, undefined, { toString: 1 }];
/** Two of the values for each position, and others for the next one. A sample has one for every eighth. */
const valuesFor = (round: number) =>
  thorough ? everyNth(wrongValues, 3, round) : round % 8 === 0 ? everyNth(wrongValues, 6, round / 8) : [];

/** A service that replays responses of the origin, with one value replaced in each. */
const recordings = new Map<string, { status: number; type: string; text: string }>();
let requestedPaths = new Set<string>();
const found = new Set<string>();
let falsify: (path: string, text: string) => string = (_, text) => text;
async function recorded({ path, headers }: ReceivedRequest) {
  let known = recordings.get(path);
  if (!known) {
    const real = await fetch(origin.url + path, { headers: { authorization: headers.authorization ?? '' } });
    known = { status: real.status, type: real.headers.get('content-type') ?? '', text: await real.text() };
    recordings.set(path, known);
  }
  return known;
}

const { books, events, execute, logged } = await startFacade({
  ...{ maxUpstreamCalls: '100000', maxFields: '100000', maxTokens: '100000', maxDocumentCharacters: '1000000' },
});
const replay: Behaviour = (socket, request) =>
  recorded(request).then(({ status, type, text }) => {
    requestedPaths.add(request.path);
    response(status, type, falsify(request.path, text))(socket, request);
  });
books.behave(replay);
events.behave(replay);

const asAlice = (query: string): Promise<GraphQLResponse> => {
  requestedPaths = new Set();
  return execute(query, { headers: { authorization: 'Bearer demo-alice' } });
};

test('every root field of a query is covered', () => {
  const all = Object.keys(schema.getQueryType()!.getFields()).filter(
    (name) => !['node', 'nodes', 'service', 'viewer'].includes(name),
  );
  expect(Object.keys(roots)).toEqual(expect.arrayContaining(all));
});

test.each(Object.entries(roots))(
  '%s: a field that is missing or has a wrong type affects only the part of the response that reads it',
  async (name, args) => {
    const query = `{ ${name}${args && `(${args})`} ${selectionOf(schema.getQueryType()!.getFields()[name]!, LEVELS)} }`;
    falsify = (_, text) => text;
    const original = await asAlice(query);
    expect(original.data[name], JSON.stringify(original.errors)).not.toBeNull();
    expect(takeConflicts()).toEqual([]);
    const positions = new Map([...requestedPaths].map((path) => [path, positionsIn(path, recordings.get(path)!.text)]));
    const rounds = Math.max(...[...positions.values()].map((each) => each.length));

    const codes = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      for (const wrong of valuesFor(round)) {
        falsify = (path, text) => {
          const all = positions.get(path);
          return all?.[round]?.(wrong) ?? text;
        };
        const result = await asAlice(query);
        expect(result).toHaveProperty('data');
        for (const { message, path, extensions } of result.errors ?? []) {
          const code = extensions?.code;
          codes.add(typeof code === 'string' ? code : `${message} at ${path?.join('.')}, ${JSON.stringify(wrong)}`);
        }
      }
    }
    expect([...codes].filter((code) => !ALLOWED.has(code))).toEqual([]);
    takeConflicts(); // such a service contradicts itself: one of two copies of a record is wrong, or two records have one id
    expect(logged).toEqual([]);
  },
);

test('the responses of all endpoints that a query reads were covered', () => {
  expect(new Set([...found].map((place) => place.split(' ')[0])).size).toBeGreaterThan(25);
  expect(found.size).toBeGreaterThan(300);
});

/** Each position of a response, as a function that replaces its value in the text. The first item stands for the whole list. */
function positionsIn(url: string, text: string): ((wrong: Json | undefined) => string)[] {
  // The same field of the same endpoint is replaced once.
  const row = url.replace(/\?.*/, '').replace(/\/\d+/g, '/:id');
  const isNew = (place: string) => !found.has(`${row} ${place}`) && found.add(`${row} ${place}`);
  if (text.startsWith('<')) return elementsIn(text, isNew);
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    return [];
  }
  return [...pathsIn(body)]
    .filter((path) => isNew(path.join('.')))
    .map((path) => (wrong) => JSON.stringify(replaced(body, path, wrong)));
}

function* pathsIn(value: Json, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) {
    if (value.length > 0) yield* pathsIn(value[0]!, [...path, 0]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* pathsIn(member, [...path, name]);
  }
}

function replaced(value: Json, [key, ...rest]: Path, wrong: Json | undefined): Json {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, Json>;
  if (rest.length > 0) copy[key!] = replaced(copy[key!]!, rest, wrong);
  else if (wrong !== undefined) copy[key!] = wrong;
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key!];
  return copy;
}

/** The same for XML: each kind of element and attribute in it. */
function elementsIn(text: string, isNew: (place: string) => unknown): ((wrong: Json | undefined) => string)[] {
  const elements = [...new Set([...text.matchAll(/<([a-zA-Z:]+)[\s>]/g)].map(([, name]) => name!))].slice(1);
  const attributes = [...new Set([...text.matchAll(/\s([a-zA-Z:]+)="/g)].map(([, name]) => name!))].filter(
    (name) => !name.startsWith('xmlns'),
  );
  const textOf = (wrong: Json | undefined) =>
    typeof wrong === 'object' ? `<b>${JSON.stringify(wrong)}</b>` : String(wrong ?? '');
  return [
    ...elements.filter(isNew).map((name) => (wrong: Json | undefined) => {
      const element = new RegExp(`<${name}(\\s[^>]*)?(?:/>|>[^]*?</${name}>)`, 'g');
      return text.replace(element, (_, given: string = '') =>
        wrong === undefined ? '' : `<${name}${given.replace(/\/$/, '')}>${textOf(wrong)}</${name}>`,
      );
    }),
    ...attributes
      .filter((name) => isNew(`@${name}`))
      .map((name) => (wrong: Json | undefined) => {
        const attribute = new RegExp(`\\s${name}="[^"]*"`, 'g');
        return text.replace(
          attribute,
          wrong === undefined ? '' : ` ${name}="${textOf(wrong).replaceAll(/[<&"]/g, '')}"`,
        );
      }),
  ];
}

/** All fields that can be selected without required arguments, to this depth. */
function selectionOf(field: GraphQLField<unknown, unknown>, levels: number): string {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return '';
  if (isAbstractType(type)) return '{ __typename }';
  const wraps = /(Connection|Edge|Chart|Entry)$/.test(type.name);
  const chosen = Object.values(type.getFields()).filter(
    (each) =>
      !each.args.some(isRequiredArgument) &&
      each.name !== 'edges' &&
      (wraps || levels > 0 || isLeafType(getNamedType(each.type))),
  );
  const parts = chosen.map((each) => {
    const window = each.args.some((arg) => arg.name === 'first') ? '(first: 2)' : '';
    return `${each.name}${window} ${selectionOf(each, wraps ? levels : levels - 1)}`;
  });
  return `{ ${parts.join(' ') || '__typename'} }`;
}
