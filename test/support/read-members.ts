import { isObjectType } from 'graphql';
import { readShapes, shapes } from '../../generated/api-shapes.ts';
import { bookEndpoints } from '../../src/api/book.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';
import { pageOf } from '../../src/engine/values/paging.ts';

/** The members of a record that the fields of its type declare to read. */
export function membersOfFields(typeName: string): string[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const { needs = [], needsBelow = {}, from = [], idIn, embedded } = fieldRule(field);
    return [...needs, ...Object.values(needsBelow).flat(), ...from, ...[idIn, embedded?.member].filter(isName)];
  });
}

/** The fields of a type that have a call of their own. */
export function callsOf(typeName: string): string[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => (fieldRule(field).endpoint ? [field.name] : []));
}

const isName = (name: string | undefined): name is string => name !== undefined;

/** The members that paging reads of the response to any list. */
const membersOfPages: ReadonlySet<string> = (() => {
  const read = new Set<string>();
  const response = new Proxy<object>({}, { get: (_, name) => void read.add(String(name)) });
  const options = { listId: () => '', representation: { members: [] }, totalIsCapped: false, keys: undefined };
  pageOf(
    response,
    [],
    { first: 1, start: 0, behind: undefined },
    { ...options, newestFirst: undefined, isRanked: false },
  );
  return read;
})();

const rows = [bookEndpoints, noteEndpoints, filmEndpoints, eventEndpoints].flatMap((table) =>
  Object.values<Endpoint>(table),
);

/** The members of a type of `src/api` that the program reads: those of the type, and those that are read of any response. */
export function membersOfShape(shape: string): Set<string> {
  const ofShape = rows.filter(({ method, path }) => readShapes[`${method} ${path}`] === shape);
  return new Set([
    ...Object.keys(shapes[shape] ?? {}),
    ...membersOfFields(shape.replace(/Record$/, '')),
    ...ofShape.flatMap(({ list }) => (list === undefined ? [] : [list, ...membersOfPages])),
    ...ofShape.flatMap(({ key, repeats }) => [...key, ...repeats.map(({ member }) => member)]),
  ]);
}
