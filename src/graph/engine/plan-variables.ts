/**
 * The variables' part of the key of a cached plan. Variables decide two things: whether a selection is included, and whether the
 * arguments of a field allow an embedded member as its value. The key has these decisions instead of values, so its length is bounded by
 * the document and clients cannot create an unlimited number of keys.
 */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { argumentsOf } from './arguments.ts';
import { fieldRule, fieldsWithEmbedded } from './declarations.ts';
import { type Variables, hasVariables, visitSelections } from './document.ts';
import type { PlannedField } from './operation-plan.ts';
import { argumentsAllowEmbedded } from './plan-names.ts';
import { variantIn } from './variants.ts';

/** The decisions of a request's variables, one character each; '' if no variable affects the plan. */
export type PlanKey = (variables: Variables) => string;

export function planKeyOf(schema: GraphQLSchema, document: DocumentNode): PlanKey {
  const conditions = new Set<string>();
  const names = fieldsWithEmbedded(schema);
  let mayBeEmbedded = false;
  visitSelections(document, (selection) => {
    for (const name of conditionsOf(selection)) conditions.add(name);
    mayBeEmbedded ||= selection.kind === Kind.FIELD && names.has(selection.name.value) && hasVariables(selection);
  });
  const fields = mayBeEmbedded ? fieldsMaybeEmbedded(schema, document) : [];
  if (conditions.size === 0 && fields.length === 0) return () => '';
  return (variables) => {
    let key = '';
    for (const name of conditions) key += variables[name] === true ? '1' : variables[name] === false ? '0' : '-';
    for (const { rule, args } of fields) {
      key += argumentsAllowEmbedded(rule, args, variables) ? '1' : '0';
      // One of the few values that the schema has for the parameter.
      if (rule.variant) key += variantIn(rule, args, variables) ?? '';
    }
    return key;
  };
}

/** The variables in the `if` arguments of directives: @skip, @include, @defer and @stream. */
function* conditionsOf({ directives = [] }: SelectionNode): Generator<string> {
  for (const { arguments: given = [] } of directives)
    for (const { name, value } of given)
      if (name.value === 'if' && value.kind === Kind.VARIABLE) yield value.name.value;
}

/** The fields with variables in their arguments whose value may be an embedded member. */
function fieldsMaybeEmbedded(schema: GraphQLSchema, document: DocumentNode): Pick<PlannedField, 'rule' | 'args'>[] {
  const found: Pick<PlannedField, 'rule' | 'args'>[] = [];
  const types = new TypeInfo(schema);
  const Field = (node: FieldNode): void => {
    const field = types.getFieldDef();
    if (!field || !hasVariables(node)) return;
    const rule = fieldRule(field);
    if (rule.embedded) found.push({ rule, args: argumentsOf(field, node) });
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return found;
}
