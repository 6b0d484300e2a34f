/** What a document that was valid under an older schema loses under the present one. */
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLOutputType,
  type GraphQLSchema,
  buildSchema,
  isAbstractType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  resolveSchemaCoordinate,
  validate,
} from 'graphql';
import { usesOf } from '../graph/plan/document-uses.ts';
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
  return (document: DocumentNode): Lost[] | undefined => {
    if (validate(old, document).length > 0) return undefined;
    const lost = new Map<string, Lost>();
    for (const { coordinate, node } of usesOf(old, document)) {
      const message = messageOf(coordinate);
      if (message !== undefined && !lost.has(coordinate)) lost.set(coordinate, { coordinate, node, message });
    }
    return [...lost.values()];
  };
}

/** What is lost of one element of the schema; undefined if nothing is. */
function compare(old: GraphQLSchema, present: GraphQLSchema, coordinate: string): string | undefined {
  const [before, now] = [old, present].map((schema) => elementOf(schema, coordinate));
  if (!now) return `${coordinate} is gone: the old schema has it.`;
  if (before?.kind !== 'Field' || now.kind !== 'Field') return undefined;
  const [was, is] = [before.field.type, now.field.type];
  return isKept(present, was, is) ? undefined : `${coordinate} was ${String(was)} and is ${String(is)}.`;
}

function elementOf(schema: GraphQLSchema, coordinate: string) {
  try {
    return resolveSchemaCoordinate(schema, coordinate);
  } catch {
    return undefined; // its type is gone too
  }
}

/** Whether every value of the new type is one of the old. */
function isKept(schema: GraphQLSchema, was: GraphQLOutputType, is: GraphQLOutputType): boolean {
  if (isNonNullType(was)) return isNonNullType(is) && isKept(schema, was.ofType, is.ofType);
  if (isNonNullType(is)) return isKept(schema, was, is.ofType);
  if (isListType(was) || isListType(is))
    return isListType(was) && isListType(is) && isKept(schema, was.ofType, is.ofType);
  if (was.name === is.name) return true;
  const parent = schema.getType(was.name);
  return isAbstractType(parent) && (isObjectType(is) || isInterfaceType(is)) && schema.isSubType(parent, is);
}
