/** Records for endpoints that the world does not know: their members are made from the types of the interface. */
import { readShapes, shapes } from '../../generated/api-shapes.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import type { Random } from './random.ts';
import { type World, book, ids, user } from './world.ts';

/** The response of an endpoint that is read. Members that repeat a parameter have its value. */
export function madeBy(
  world: World,
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const line = `${endpoint.method} ${endpoint.path}`;
  const shape = readShapes[line];
  if (shape === undefined) throw new Error(`generated/api-shapes.ts has no ${line}: run "npm run codegen"`);
  const path = endpoint.params.map((name) => params[name]).join(' ');
  const repeated = endpoint.repeats.map(({ member, param }) => [member, params[param]]);
  return {
    ...(valueOf(world, world.random(`${line} ${path}`), shape, '') as Record<string, unknown>),
    ...Object.fromEntries(repeated.filter(([, value]) => value !== undefined)),
  };
}

const ITEMS_MAX = 7;

function valueOf(world: World, random: Random, type: string, name: string): unknown {
  if (type.includes('|')) return valueOf(world, random, random.pick(type.split('|')), name);
  if (type.endsWith('[]'))
    return Array.from({ length: random.int(0, ITEMS_MAX) }, (_, at) => {
      const item = valueOf(world, random, type.slice(0, -'[]'.length), name);
      return isRecord(item) && 'id' in item && !known[type.slice(0, -2)] ? { ...item, id: idOf(item.id, at) } : item;
    });
  const make = known[type];
  if (make) return make(world, random);
  const members = shapes[type];
  if (members)
    return Object.fromEntries(
      Object.entries(members).map(([member, each]) => [member, valueOf(world, random, each, member)]),
    );
  if (type === 'number') return random.int(1, 99);
  if (type === 'boolean') return random.chance(0.5);
  if (type === 'null') return null;
  if (type.startsWith('{')) return {};
  if (name === 'book_id') return random.pick(ids.book);
  return random.pick(['文字', 'a text', '2012-03-04 05:06:07', '']);
}

/** Items of a list have different ids, of the type that the interface has. */
const idOf = (made: unknown, at: number): string | number => (typeof made === 'number' ? 900 + at : String(900 + at));

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Records that the world has: an embedded one never contradicts the record itself. */
const known: Readonly<Record<string, (world: World, random: Random) => unknown>> = {
  UserRecord: (world, random) => user(world, random.pick(ids.user)),
  BookRecord: (world, random) => book(world, random.pick(ids.book.filter((id) => !world.isAbsent(id)))),
};
