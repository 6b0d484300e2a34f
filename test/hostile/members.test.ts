// Every member of every answer that the graph reads, replaced by what it is not, one after another.
import { type GraphQLField, getNamedType, isAbstractType, isLeafType, isRequiredArgument } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { besieged } from '../support/besieged.ts';
import type { Shown } from '../support/facade.ts';
import { type Behaviour, type Heard, answer } from '../support/hostile.ts';
import { service } from '../support/service.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

/** How far below the root things are asked for: what is one call further is another root's. */
const LEVELS = 1;

/** What a field may say of an answer that is not what it should be. */
const TOLD = new Set(['UPSTREAM_INVALID_RESPONSE', 'UPSTREAM_UNAVAILABLE', 'TIER_REQUIRED', 'FORBIDDEN']);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Path = readonly (string | number)[];

const origin = await service();
const notes = (await origin.get('/v2/note/user_created/alice', 'alice')).body.notes as { id: string }[];
const annotations = (await origin.get('/v2/book/6082808/annotations')).body.annotations as { id: string }[];

/** Every way into the graph. */
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
const wrongs: readonly (Json | undefined)[] = [null, -7, 'x', [null], {}, undefined];

/** A service that tells what the origin told, but for one lie in each of its answers. */
const told = new Map<string, { status: number; type: string; text: string }>();
let asked = new Set<string>();
const seen = new Set<string>();
let lie: (path: string, text: string) => string = (_, text) => text;
async function recorded({ path, headers }: Heard) {
  let known = told.get(path);
  if (!known) {
    const real = await fetch(origin.url + path, { headers: { authorization: headers.authorization ?? '' } });
    known = { status: real.status, type: real.headers.get('content-type') ?? '', text: await real.text() };
    told.set(path, known);
  }
  return known;
}

const { books, events, ask, logged } = await besieged({
  ...{ maxUpstreamCalls: '100000', maxFields: '100000', maxTokens: '100000', maxDocumentCharacters: '1000000' },
});
const liar: Behaviour = (socket, heard) =>
  recorded(heard).then(({ status, type, text }) => {
    asked.add(heard.path);
    answer(status, type, lie(heard.path, text))(socket, heard);
  });
books.behave(liar);
events.behave(liar);

const asAlice = (query: string): Promise<Shown> => {
  asked = new Set();
  return ask(query, { headers: { authorization: 'Bearer demo-alice' } });
};

test('covers every root field of a query', () => {
  const all = Object.keys(schema.getQueryType()!.getFields()).filter(
    (name) => !['node', 'nodes', 'service', 'viewer'].includes(name),
  );
  expect(Object.keys(roots)).toEqual(expect.arrayContaining(all));
});

test.each(Object.entries(roots))(
  '%s: no member of any type, nor the lack of one, is more than that part of the answer',
  async (name, args) => {
    const query = `{ ${name}${args && `(${args})`} ${selectionOf(schema.getQueryType()!.getFields()[name]!, LEVELS)} }`;
    lie = (_, text) => text;
    const truth = await asAlice(query);
    expect(truth.data[name], JSON.stringify(truth.errors)).not.toBeNull();
    const places = new Map([...asked].map((path) => [path, placesIn(path, told.get(path)!.text)]));
    const rounds = Math.max(...[...places.values()].map((each) => each.length));

    const codes = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      for (const wrong of wrongs) {
        lie = (path, text) => {
          const all = places.get(path);
          return all?.[round]?.(wrong) ?? text;
        };
        const shown = await asAlice(query);
        expect(shown).toHaveProperty('data');
        for (const { message, path, extensions } of shown.errors ?? []) {
          const code = extensions?.code;
          codes.add(typeof code === 'string' ? code : `${message} at ${path?.join('.')}, ${JSON.stringify(wrong)}`);
        }
      }
    }
    expect([...codes].filter((code) => !TOLD.has(code))).toEqual([]);
    expect(logged).toEqual([]);
  },
);

test('that was every kind of answer that a query reads', () => {
  expect(new Set([...seen].map((place) => place.split(' ')[0])).size).toBeGreaterThan(25);
  expect(seen.size).toBeGreaterThan(300);
});

/** Each place of an answer, as what makes the answer with something else there. Of a list, the first item stands for all. */
function placesIn(url: string, text: string): ((wrong: Json | undefined) => string)[] {
  // The same member of the same kind of answer is lied about once.
  const row = url.replace(/\?.*/, '').replace(/\/\d+/g, '/:id');
  const isNew = (place: string) => !seen.has(`${row} ${place}`) && seen.add(`${row} ${place}`);
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

/** The same for XML: each kind of element and attribute that it has. */
function elementsIn(text: string, isNew: (place: string) => unknown): ((wrong: Json | undefined) => string)[] {
  const elements = [...new Set([...text.matchAll(/<([a-zA-Z:]+)[\s>]/g)].map(([, name]) => name!))].slice(1);
  const attributes = [...new Set([...text.matchAll(/\s([a-zA-Z:]+)="/g)].map(([, name]) => name!))].filter(
    (name) => !name.startsWith('xmlns'),
  );
  const written = (wrong: Json | undefined) =>
    typeof wrong === 'object' ? `<b>${JSON.stringify(wrong)}</b>` : String(wrong ?? '');
  return [
    ...elements.filter(isNew).map((name) => (wrong: Json | undefined) => {
      const element = new RegExp(`<${name}(\\s[^>]*)?(?:/>|>[^]*?</${name}>)`, 'g');
      return text.replace(element, (_, given: string = '') =>
        wrong === undefined ? '' : `<${name}${given.replace(/\/$/, '')}>${written(wrong)}</${name}>`,
      );
    }),
    ...attributes
      .filter((name) => isNew(`@${name}`))
      .map((name) => (wrong: Json | undefined) => {
        const attribute = new RegExp(`\\s${name}="[^"]*"`, 'g');
        return text.replace(
          attribute,
          wrong === undefined ? '' : ` ${name}="${written(wrong).replaceAll(/[<&"]/g, '')}"`,
        );
      }),
  ];
}

/** Everything that can be selected of a field without an argument that names something, so many levels of it. */
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
