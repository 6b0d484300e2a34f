/** What a document that was valid under an older schema loses under the present one. */
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  type IntrospectionQuery,
  buildClientSchema,
  buildSchema,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  resolveSchemaCoordinate,
  validate,
} from 'graphql';
import { usesOf, variableTypesOf } from '../engine/plan/document-uses.ts';
import { createDefaultComparison } from './changed-defaults.ts';
import { UserError } from '../lib/user-error.ts';

export interface Lost {
  /** An error: valid documents fail. A warning: they stay valid, and mean something else. */
  severity: 'error' | 'warning';
  coordinate: string;
  node: ASTNode;
  message: string;
}

/** A schema as text, or the response to an introspection query. Throws a UserError for a text that is neither. */
export function readOldSchema(path: string, text: string): GraphQLSchema {
  try {
    return text.trimStart().startsWith('{') ? fromIntrospection(text) : buildSchema(text);
  } catch (error) {
    throw new UserError(`${path} is no schema: ${(error as Error).message}`);
  }
}

function fromIntrospection(text: string): GraphQLSchema {
  const response = JSON.parse(text) as { data?: IntrospectionQuery } & IntrospectionQuery;
  return buildClientSchema(response.data ?? response);
}

/** Returns a function that compares one document; undefined if it was not valid under the old schema either. */
export function createLostFinder(old: GraphQLSchema, present: GraphQLSchema) {
  const messages = new Map<string, string | undefined>();
  const messageOf = (coordinate: string): string | undefined => {
    if (!messages.has(coordinate)) messages.set(coordinate, compare(old, present, coordinate));
    return messages.get(coordinate);
  };
  /** What values of a type lose that were valid: a document with a variable of it does not show which of them clients send. */
  function lostInputsOf(type: GraphQLInputObjectType | GraphQLEnumType): [coordinate: string, message: string][] {
    const now = present.getType(type.name);
    if (!now) return []; // the type itself is lost
    const before = inputFieldsOf(type);
    const after = isInputObjectType(type) ? inputFieldsOf(now) : {};
    const members = isEnumType(type) ? type.getValues().map(({ name }) => name) : Object.keys(before);
    return [...new Set([...members, ...Object.keys(after)])].flatMap((name): [string, string][] => {
      const coordinate = `${type.name}.${name}`;
      const field = after[name];
      const message = field ? compareInputField(coordinate, before[name], field) : messageOf(coordinate);
      return message === undefined ? [] : [[coordinate, message]];
    });
  }

  const changedDefaults = createDefaultComparison(old, present);
  return (document: DocumentNode): Lost[] | undefined => {
    if (validate(old, document).length > 0) return undefined;
    const lost = new Map<string, Lost>();
    for (const { coordinate, node } of usesOf(old, document)) {
      const message = messageOf(coordinate);
      if (message !== undefined && !lost.has(coordinate))
        lost.set(coordinate, { severity: 'error', coordinate, node, message });
    }
    for (const { type, node } of variableTypesOf(old, document))
      for (const [coordinate, message] of lostInputsOf(type))
        if (!lost.has(coordinate)) lost.set(coordinate, { severity: 'error', coordinate, node, message });
    for (const each of changedDefaults(document))
      if (!lost.has(each.coordinate)) lost.set(each.coordinate, { severity: 'warning', ...each });
    return [...lost.values()];
  };
}

/**
 * What is lost of one element of the schema; undefined if nothing is. The type of an input field is not compared:
 * whether a literal still has it is a question of validation.
 */
function compare(old: GraphQLSchema, present: GraphQLSchema, coordinate: string): string | undefined {
  const [before, now] = [old, present].map((schema) => elementOf(schema, coordinate));
  if (!now) return `${coordinate} is gone: the old schema has it.`;
  if (before?.kind !== 'Field' || now.kind !== 'Field') return undefined;
  const [was, is] = [before.field.type, now.field.type];
  return isKept(present, was, is) ? undefined : changed(coordinate, was, is);
}

/** What clients can no longer send in a field of a variable, or must; undefined if all that was valid still is. */
function compareInputField(coordinate: string, before: GraphQLInputField | undefined, now: GraphQLInputField) {
  const isRequired = isRequiredInputField(now);
  if (!before) return isRequired ? `${coordinate} is new and required.` : undefined;
  const [was, is] = [before.type, now.type];
  const becameRequired = isRequired && !isRequiredInputField(before);
  if (!isAccepted(was, becameRequired ? getNullableType(is) : is)) return changed(coordinate, was, is);
  return becameRequired ? `${coordinate} is required now.` : undefined;
}

const changed = (coordinate: string, was: GraphQLType, is: GraphQLType): string =>
  `${coordinate} was ${String(was)} and is ${String(is)}.`;

const inputFieldsOf = (type: GraphQLNamedType): Record<string, GraphQLInputField | undefined> =>
  isInputObjectType(type) ? type.getFields() : {};

function elementOf(schema: GraphQLSchema, coordinate: string) {
  try {
    return resolveSchemaCoordinate(schema, coordinate);
  } catch {
    return undefined; // its type is gone too
  }
}

/** Whether every output value of the type `is` is one of the type `was`. */
function isKept(schema: GraphQLSchema, was: GraphQLType, is: GraphQLType): boolean {
  if (isNonNullType(was)) return isNonNullType(is) && isKept(schema, was.ofType, is.ofType);
  if (isNonNullType(is)) return isKept(schema, was, is.ofType);
  if (isListType(was) || isListType(is))
    return isListType(was) && isListType(is) && isKept(schema, was.ofType, is.ofType);
  if (was.name === is.name) return true;
  const parent = schema.getType(was.name);
  return isAbstractType(parent) && (isObjectType(is) || isInterfaceType(is)) && schema.isSubType(parent, is);
}

/** The built-in scalars that accept all values of another one. */
const widerScalars: Readonly<Record<string, readonly string[] | undefined>> = { Int: ['Float', 'ID'], String: ['ID'] };

/** Whether the input type `is` accepts every value that the type `was` accepted. */
function isAccepted(was: GraphQLInputType, is: GraphQLInputType): boolean {
  // A default does not help: it replaces a field that is absent, but a null is rejected.
  if (isNonNullType(is)) return isNonNullType(was) && isAccepted(was.ofType, is.ofType);
  if (isNonNullType(was)) return isAccepted(was.ofType, is);
  if (isListType(is))
    // A single value becomes a list of one; null stays null, so items that are never null accept it too.
    return isListType(was) ? isAccepted(was.ofType, is.ofType) : isAccepted(was, getNullableType(is.ofType));
  if (isListType(was)) return false;
  return was.name === is.name || (widerScalars[was.name]?.includes(is.name) ?? false);
}
