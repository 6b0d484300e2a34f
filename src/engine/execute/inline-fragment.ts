/** Which deferred fragments come with an item of a list, if the list has all of their members: to deliver them later gains nothing. */
import type { GraphQLSchema } from 'graphql';
import { isStreamed } from '../plan/document.ts';
import { type FieldMode, type PlannedField, type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';
import { engineResolverOf } from './resolve.ts';

/**
 * Whether the fragment needs nothing but members of the item, and has no field that is selected elsewhere in it too. A record that
 * was asked for by itself comes in the parts that were asked for. `mode`: of the field that returns it.
 */
export function mayComeWithItem(
  schema: GraphQLSchema,
  fragment: SelectionPlan,
  { rule, outputFields, deferred }: SelectionPlan,
  mode: FieldMode | undefined,
): boolean {
  if (mode === 'lookup' || !rule.record || !needsOnlyMembers(schema, fragment)) return false;
  const others = [outputFields, ...deferred.flatMap((each) => (each === fragment ? [] : [each.outputFields]))];
  // It would set the prototype of the object.
  const keys = new Set(['__proto__', ...others.flat().map(keyOf)]);
  return fragment.outputFields.every((each) => !keys.has(keyOf(each)));
}

const keyOf = (field: PlannedField | string): string => (typeof field === 'string' ? field : responseKeyOf(field));

/** Whether the fields call, load and wait for nothing. */
const needsOnlyMembers = (schema: GraphQLSchema, { fields, deferred }: SelectionPlan): boolean =>
  deferred.length === 0 &&
  fields.every(
    ({ mode, field, rule, nodes, selections }) =>
      mode === 'value' &&
      rule.viewerOnly !== 'named' &&
      !isStreamed(nodes[0]!) &&
      !engineResolverOf(schema)(field) &&
      [...selections.values()].every((each) => !each.rule.record && needsOnlyMembers(schema, each)),
  );
