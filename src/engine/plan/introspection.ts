/** Upper bound of the number of values in the result of introspection, computed from the schema before anything is run. */
import {
  type GraphQLSchema,
  type GraphQLType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isWrappingType,
} from 'graphql';
import { oncePer } from '../../lib/remember.ts';
import { type PlannedField, type SelectionPlan, isIntrospection } from './operation-plan.ts';

/** How many elements of one kind the schema has: in total, and at most in one parent. */
interface Amount {
  all: number;
  most: number;
}
/** How many objects a selection applies to, and how many times they include all objects of their kind in the schema. */
interface Objects {
  count: number;
  whole: number;
  /** The levels of `ofType` above them. */
  wrapped?: number;
}

/** The most values that `__schema` and `__type` can return. */
export function introspectedValues(schema: GraphQLSchema, root: SelectionPlan): number {
  const roots = [root, ...root.deferred].flatMap(({ fields }) => fields.filter(isIntrospection));
  return roots.reduce((values, field) => values + valuesIn(field, { count: 1, whole: 0 }), 0);

  function valuesIn({ selections }: PlannedField, objects: Objects): number {
    let values = 0;
    for (const selection of selections.values())
      for (const { fields, outputFields } of [selection, ...selection.deferred]) {
        values += objects.count * outputFields.length;
        for (const field of fields) values += valuesIn(field, below(field.field.name, objects));
      }
    return values;
  }

  function below(name: string, { count, whole, wrapped = 0 }: Objects): Objects {
    if (name === 'ofType') return { count: wrapped < wrappersOf(schema) ? count : 0, whole: 0, wrapped: wrapped + 1 };
    const amount = listsOf(schema).get(name);
    if (!amount) return { count, whole: 0 };
    if (name === 'types') return { count: count * amount.all, whole: count };
    // All types together have all fields, and all fields all arguments. Otherwise each parent counts with the most that any parent has.
    return whole > 0
      ? { count: whole * amount.all, whole: name === 'fields' ? whole : 0 }
      : { count: count * amount.most, whole: 0 };
  }
}

/** The lists of introspection by the names of their fields. */
const listsOf = oncePer((schema: GraphQLSchema): ReadonlyMap<string, Amount> => {
  const types = Object.values(schema.getTypeMap());
  const fieldTypes = types.filter((type) => isObjectType(type) || isInterfaceType(type));
  const directives = schema.getDirectives();
  const fields = fieldTypes.map((type) => Object.values(type.getFields()));
  const args = fields.flat().map((field) => field.args.length);
  const argsMost = Math.max(...args, ...directives.map((directive) => directive.args.length));
  return new Map([
    ['types', amountOf([types.length])],
    ['directives', amountOf([directives.length])],
    ['fields', amountOf(fields.map(({ length }) => length))],
    ['args', { ...amountOf(args), most: argsMost }],
    ['inputFields', amountOf(types.filter(isInputObjectType).map((type) => Object.keys(type.getFields()).length))],
    ['enumValues', amountOf(types.filter(isEnumType).map((type) => type.getValues().length))],
    ['interfaces', amountOf(fieldTypes.map((type) => type.getInterfaces().length))],
    ['possibleTypes', amountOf(types.filter(isAbstractType).map((type) => schema.getPossibleTypes(type).length))],
  ]);
});

/** The most lists and non-nulls around any type. */
const wrappersOf = oncePer((schema: GraphQLSchema): number => {
  const depthOf = (type: GraphQLType): number => (isWrappingType(type) ? 1 + depthOf(type.ofType) : 0);
  const types = Object.values(schema.getTypeMap());
  const outputs = types.filter((type) => isObjectType(type) || isInterfaceType(type));
  const fields = outputs.flatMap((type) => Object.values(type.getFields()));
  const inputs = types.filter(isInputObjectType).flatMap((type) => Object.values(type.getFields()));
  const args = [...fields, ...schema.getDirectives()].flatMap((each) => each.args);
  return Math.max(0, ...[...fields, ...inputs, ...args].map(({ type }) => depthOf(type)));
});

const amountOf = (counts: readonly number[]): Amount => ({
  all: counts.reduce((sum, count) => sum + count, 0),
  most: Math.max(0, ...counts),
});
