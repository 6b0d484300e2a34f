/** Holds a response of the service against the types of `src/api`: which members are required and missing, unknown, or of another type. */
import { requiredMembers, readShapes, shapes } from '../../generated/api-shapes.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { isPlainObject } from '../lib/objects.ts';
import { textForms, unreadMembers } from './expected.ts';

export interface Deviation {
  what: 'missing' | 'unknown' | 'type';
  /** Where in the response, with `[]` for each item of a list. */
  coordinate: string;
  /** If a value has a wrong type: the type in the interface, and that of the value. */
  expected?: string;
  found?: string;
}

/** `missing title`, `rating: null, not FilmRating`. */
export const describeDeviation = ({ what, coordinate, expected, found }: Deviation): string =>
  what === 'type' ? `${coordinate}: ${found}, not ${expected}` : `${what} ${coordinate}`;

/** Each finding once, whatever the number of items that have it. `fields`: the members that were requested, if not all. */
export function compare(endpoint: Endpoint, value: unknown, fields?: readonly string[]): Deviation[] {
  const found = new Map<string, Deviation>();
  const shape = readShapes[`${endpoint.method} ${endpoint.path}`];
  if (shape === undefined) return [];
  const add = (finding: Deviation) => {
    const key = `${finding.what} ${finding.coordinate}`;
    if (!found.has(key)) found.set(key, finding);
  };
  compareValue({ endpoint, fields, add }, value, shape, '');
  return [...found.values()];
}

interface Comparison {
  endpoint: Endpoint;
  fields: readonly string[] | undefined;
  add: (finding: Deviation) => void;
}

function compareValue(comparison: Comparison, value: unknown, type: string, coordinate: string): void {
  const types = type.split('|');
  const fitting = types.find((each) => fits(value, each));
  if (fitting === undefined)
    comparison.add({ what: 'type', coordinate: coordinate || '(the response)', expected: type, found: kindOf(value) });
  else if (Array.isArray(value)) {
    for (const item of value) compareValue(comparison, item, fitting.slice(0, -'[]'.length), `${coordinate}[]`);
  } else if (fitting.startsWith('{')) {
    for (const each of Object.values(value as object))
      compareValue(comparison, each, fitting.slice(1, -1), `${coordinate}.*`);
  } else if (typeof value === 'object' && value !== null)
    compareRecord(comparison, value as Record<string, unknown>, fitting, coordinate);
}

function compareRecord(
  comparison: Comparison,
  record: Readonly<Record<string, unknown>>,
  shape: string,
  coordinate: string,
): void {
  const { endpoint, fields, add } = comparison;
  const members = shapes[shape] ?? {};
  const at = (name: string) => (coordinate === '' ? name : `${coordinate}.${name}`);
  for (const [name, value] of Object.entries(record)) {
    if (!Object.hasOwn(members, name)) {
      if (!unreadMembers[shape]?.includes(name)) add({ what: 'unknown', coordinate: at(name.slice(0, NAME_MAX)) });
    } else if (value !== undefined) {
      compareValue(comparison, value, members[name]!, at(name));
      const form = textForms[`${shape}.${name}`];
      if (form && typeof value === 'string' && !form.test(value))
        add({ what: 'type', coordinate: at(name), expected: `a text like ${form.source}`, found: 'another text' });
    }
  }
  const requested = coordinate === (endpoint.list === undefined ? '' : `${endpoint.list}[]`) ? fields : undefined;
  for (const name of requiredMembers[shape] ?? [])
    if (record[name] === undefined && (requested?.includes(name) ?? true))
      add({ what: 'missing', coordinate: at(name) });
}

/** A service chooses the names of its members. */
const NAME_MAX = 60;

function fits(value: unknown, type: string): boolean {
  if (type.endsWith('[]')) return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type in shapes || type.startsWith('{')) return isPlainObject(value);
  return typeof value === type;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : typeof value;
}
