/** What a document that was valid under an older schema loses under the present one. */
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  type GraphQLType,
  buildSchema,
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
import { usesOf, variableTypesOf } from '../graph/plan/document-uses.ts';
import { UsageError } from './finding.ts';

export interface Lost {
  coordinate: string;
  node: ASTNode;
  message: string;
}

/** Throws a UsageError for a text that is no schema. */
export function readOldSchema(path: string, text: string): GraphQLSchema {
  try {
    return buildSchema(text);
  } catch (error) {
    throw new UsageError(`${path} is no schema: ${(error as Error).message}`);
  }
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
    const members = isEnumType(type) ? type.getValues() : Object.values(type.getFields());
    const now = present.getType(type.name);
    if (!now) return []; // the type itself is lost
    const added = isInputObjectType(type) && isInputObjectType(now) ? Object.values(now.getFields()) : [];
    return [
      ...members.flatMap(({ name }): [string, string][] => {
        const message = messageOf(`${type.name}.${name}`);
        return message === undefined ? [] : [[`${type.name}.${name}`, message]];
      }),
      ...added
        .filter((field) => isRequiredInputField(field) && !members.some(({ name }) => name === field.name))
        .map(({ name }): [string, string] => [`${type.name}.${name}`, `${type.name}.${name} is new and required.`]),
    ];
  }

  return (document: DocumentNode): Lost[] | undefined => {
    if (validate(old, document).length > 0) return undefined;
    const lost = new Map<string, Lost>();
    for (const { coordinate, node } of usesOf(old, document)) {
      const message = messageOf(coordinate);
      if (message !== undefined && !lost.has(coordinate)) lost.set(coordinate, { coordinate, node, message });
    }
    for (const { type, node } of variableTypesOf(old, document))
      for (const [coordinate, message] of lostInputsOf(type))
        if (!lost.has(coordinate)) lost.set(coordinate, { coordinate, node, message });
    return [...lost.values()];
  };
}

/** What is lost of one element of the schema; undefined if nothing is. */
function compare(old: GraphQLSchema, present: GraphQLSchema, coordinate: string): string | undefined {
  const [before, now] = [old, present].map((schema) => elementOf(schema, coordinate));
  if (!now) return `${coordinate} is gone: the old schema has it.`;
  const changed = (was: GraphQLType, is: GraphQLType) => `${coordinate} was ${String(was)} and is ${String(is)}.`;
  if (before?.kind === 'InputField' && now.kind === 'InputField') {
    const [was, is] = [before.inputField.type, now.inputField.type];
    return isKept(present, is, was) ? undefined : changed(was, is);
  }
  if (before?.kind !== 'Field' || now.kind !== 'Field') return undefined;
  const [was, is] = [before.field.type, now.field.type];
  return isKept(present, was, is) ? undefined : changed(was, is);
}

function elementOf(schema: GraphQLSchema, coordinate: string) {
  try {
    return resolveSchemaCoordinate(schema, coordinate);
  } catch {
    return undefined; // its type is gone too
  }
}

/** Whether every value of the type `is` is one of the type `was`. */
function isKept(schema: GraphQLSchema, was: GraphQLType, is: GraphQLType): boolean {
  if (isNonNullType(was)) return isNonNullType(is) && isKept(schema, was.ofType, is.ofType);
  if (isNonNullType(is)) return isKept(schema, was, is.ofType);
  if (isListType(was) || isListType(is))
    return isListType(was) && isListType(is) && isKept(schema, was.ofType, is.ofType);
  if (was.name === is.name) return true;
  const parent = schema.getType(was.name);
  return isAbstractType(parent) && (isObjectType(is) || isInterfaceType(is)) && schema.isSubType(parent, is);
}
