/** Upper bound of the number of values in the result of introspection, computed from the schema before anything is run. */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { oncePer } from '../../lib/remember.ts';

/** How many elements of one kind the schema has: in total, and at most in one parent. */
interface Amount {
  all: number;
  most: number;
}
/** How many objects a selection applies to, and how many times they include all objects of their kind in the schema. */
interface Objects {
  count: number;
  whole: number;
}

/** The most values that these root fields, `__schema` or `__type`, can return. */
export function introspectedValues(
  schema: GraphQLSchema,
  nodes: readonly FieldNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): number {
  const lists = listsOf(schema);
  let values = 0;
  for (const node of nodes) if (node.selectionSet) inside(node.selectionSet, { count: 1, whole: 0 });
  return values;

  function inside({ selections }: SelectionSetNode, objects: Objects): void {
    if (values > Number.MAX_SAFE_INTEGER) return;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        values += objects.count;
        if (selection.selectionSet) inside(selection.selectionSet, below(selection.name.value, objects));
        continue;
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) inside(selection.selectionSet, objects);
      else {
        const fragment = fragments.get(selection.name.value);
        if (fragment) inside(fragment.selectionSet, objects);
      }
    }
  }

  function below(name: string, { count, whole }: Objects): Objects {
    const amount = lists.get(name);
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

const amountOf = (counts: readonly number[]): Amount => ({
  all: counts.reduce((sum, count) => sum + count, 0),
  most: Math.max(0, ...counts),
});
