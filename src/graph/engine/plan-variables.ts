/**
 * The variables' part of the key of a cached plan. Variables decide two things: whether a selection is included, and whether the
 * arguments of a field allow an embedded member as its value. The key has these decisions instead of values, so its length is bounded by
 * the document and clients cannot create an unlimited number of keys.
 */
import {
  type ASTVisitor,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { argumentsOf } from './arguments.ts';
import { fieldRule } from './declarations.ts';
import { type Variables, hasVariables } from './document.ts';
import type { PlannedField } from './operation-plan.ts';
import { argumentsAllowEmbedded } from './plan-names.ts';
import { variantIn } from './variants.ts';

/** The decisions of a request's variables, one character each; '' if no variable affects the plan. */
export type PlanKey = (variables: Variables) => string;

export function planKeyOf(schema: GraphQLSchema, document: DocumentNode): PlanKey {
  const conditions = new Set<string>();
  const fields: Pick<PlannedField, 'rule' | 'args'>[] = [];
  const types = new TypeInfo(schema);
  const visitor: ASTVisitor = {
    Field(node) {
      const field = types.getFieldDef();
      if (!field || !hasVariables(node)) return;
      const rule = fieldRule(field);
      if (rule.embedded) fields.push({ rule, args: argumentsOf(field, node) });
    },
    /** @skip, @include, @defer or @stream. */
    Directive({ arguments: given = [] }) {
      for (const { name, value } of given)
        if (name.value === 'if' && value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
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
