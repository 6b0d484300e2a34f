/**
 * Which plan of a document a request needs. Variables decide two things: whether a selection is taken, and whether a field's
 * arguments let the parent's record answer it. The key of a plan holds these decisions, not the values that led to them: its length is
 * the document's, and a client cannot make up new ones without end.
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
import type { FieldRule } from './ask.ts';
import { argumentsOf } from './coerce.ts';
import { fieldRule, fieldsWithHand } from './declared.ts';
import { type Variables, hasVariables, visitSelections } from './document.ts';
import { argumentsAllowHand } from './hand.ts';

/** The decisions that a request's variables make, one character each; '' where the document leaves nothing to decide. */
export type Steering = (variables: Variables) => string;

export function steeringOf(schema: GraphQLSchema, document: DocumentNode): Steering {
  const conditions = new Set<string>();
  const handed = fieldsWithHand(schema);
  let mayBeInHand = false;
  visitSelections(document, (selection) => {
    for (const name of conditionsOf(selection)) conditions.add(name);
    mayBeInHand ||= selection.kind === Kind.FIELD && handed.has(selection.name.value) && hasVariables(selection);
  });
  const fields = mayBeInHand ? fieldsInHand(schema, document) : [];
  if (conditions.size === 0 && fields.length === 0) return () => '';
  return (variables) => {
    let key = '';
    for (const name of conditions) key += variables[name] === true ? '1' : variables[name] === false ? '0' : '-';
    for (const { rule, args } of fields) key += argumentsAllowHand(rule, args, variables) ? '1' : '0';
    return key;
  };
}

/** The variables that say whether a selection is taken, or comes later. */
function* conditionsOf({ directives = [] }: SelectionNode): Generator<string> {
  for (const { arguments: given = [] } of directives)
    for (const { name, value } of given)
      if (name.value === 'if' && value.kind === Kind.VARIABLE) yield value.name.value;
}

interface SteeredField {
  rule: FieldRule;
  args: (variables: Variables) => object;
}

/** The fields that the parent's record may answer, where a variable is among their arguments. */
function fieldsInHand(schema: GraphQLSchema, document: DocumentNode): SteeredField[] {
  const found: SteeredField[] = [];
  const types = new TypeInfo(schema);
  const Field = (node: FieldNode): void => {
    const field = types.getFieldDef();
    if (!field || !hasVariables(node)) return;
    const rule = fieldRule(field);
    if (rule.hand) found.push({ rule, args: argumentsOf(field, node) });
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return found;
}
