/** The coordinates of the schema by number, and what documents read of them. Everything is computed once for each document. */
import {
  type DocumentNode,
  type GraphQLEnumType,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  TypeInfo,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  separateOperations,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Path } from 'graphql/jsutils/Path.js';
import { usesOf, variableTypesOf } from '../../../engine/plan/document-uses.ts';

export interface Coordinate {
  coordinate: string;
  deprecated: string | undefined;
}

/** What one operation of a document reads. */
export interface DocumentReads {
  operationName: string | undefined;
  /** Numbers of coordinates, without repetitions. */
  ids: Uint16Array;
  /** The field of each alias, by `Type.alias`. */
  aliases: ReadonlyMap<string, string>;
}

export type Coordinates = ReturnType<typeof createCoordinates>;

export function createCoordinates(schema: GraphQLSchema) {
  const all = coordinatesOf(schema);
  const ids = new Map(all.map(({ coordinate }, id) => [coordinate, id]));

  /** A field of an interface or a union is one of each type that it may be of. */
  function idsOf(coordinate: string): number[] {
    const [type = '', ...field] = coordinate.split('.');
    const parent = schema.getType(type);
    const owners = isAbstractType(parent) ? schema.getPossibleTypes(parent).map(({ name }) => name) : [];
    return [coordinate, ...owners.map((owner) => [owner, ...field].join('.'))].flatMap((each) => ids.get(each) ?? []);
  }

  /** Values of an enum, or fields of an input type. */
  const membersOf = (type: GraphQLNamedType): string[] =>
    (isEnumType(type) ? type.getValues() : isInputObjectType(type) ? Object.values(type.getFields()) : []).map(
      ({ name }) => `${type.name}.${name}`,
    );

  return {
    all,
    /** What responses or variables may have counts as read: a member is safe to remove only if it can be in neither. */
    readsOf(document: DocumentNode, { name }: OperationDefinitionNode): DocumentReads {
      const own = separateOperations(document)[name?.value ?? ''] ?? document;
      const uses = usesOf(schema, own).map(({ coordinate }) => coordinate);
      const { enums, aliases } = fieldsIn(schema, own);
      const types = [...enums, ...variableTypesOf(schema, own).map(({ type }) => type)];
      const found = new Set([...uses, ...types.flatMap(membersOf)].flatMap(idsOf));
      return { operationName: name?.value, ids: Uint16Array.from(found), aliases };
    },
    /** The field that a call was made for; undefined if it is not in the schema. */
    idOfPath({ aliases }: DocumentReads, path: Path | undefined): number | undefined {
      let at = path;
      while (at && at.typename === undefined) at = at.prev; // the index of a list
      if (!at) return undefined;
      const key = `${at.typename}.${at.key}`;
      return ids.get(aliases.get(key) ?? key);
    },
  };
}

/** `enums`: those of which the response may have any value. `aliases`: see `DocumentReads`. */
function fieldsIn(schema: GraphQLSchema, document: DocumentNode) {
  const enums = new Set<GraphQLEnumType>();
  const aliases = new Map<string, string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field({ alias, name }) {
        const shown = types.getType() && getNamedType(types.getType()!);
        if (isEnumType(shown)) enums.add(shown);
        const parent = types.getParentType();
        if (!alias || !parent) return;
        for (const type of isAbstractType(parent) ? schema.getPossibleTypes(parent) : [parent])
          aliases.set(`${type.name}.${alias.value}`, `${type.name}.${name.value}`);
      },
    }),
  );
  return { enums, aliases };
}

function coordinatesOf(schema: GraphQLSchema): Coordinate[] {
  const found: Coordinate[] = [];
  const add = (coordinate: string, { deprecationReason }: { deprecationReason?: string | null | undefined }) =>
    found.push({ coordinate, deprecated: deprecationReason ?? undefined });
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isEnumType(type)) for (const value of type.getValues()) add(`${type.name}.${value.name}`, value);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) add(`${type.name}.${field.name}`, field);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      add(`${type.name}.${field.name}`, field);
      for (const arg of field.args) add(`${type.name}.${field.name}(${arg.name}:)`, arg);
    }
  }
  return found;
}
