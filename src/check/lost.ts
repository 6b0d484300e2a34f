/** What a document that was valid under an older schema loses under the present one. */
import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import {
  type ASTNode,
  type ArgumentNode,
  type DocumentNode,
  type GraphQLSchema,
  type IntrospectionQuery,
  Kind,
  type ObjectFieldNode,
  buildClientSchema,
  buildSchema,
  isInputObjectType,
  isRequiredInputField,
  printSchema,
  validate,
  visit,
} from 'graphql';
import { usesOf, variableTypesOf } from '../engine/plan/document-uses.ts';
import { readTextFile } from '../lib/text/read-text.ts';
import { UserError } from '../lib/user-error.ts';

export interface Lost {
  /** An error: valid documents fail. A warning: they stay valid, and mean something else. */
  severity: 'error' | 'warning';
  coordinate: string;
  node: ASTNode;
  message: string;
}

/** The schema in a file, as text or as the response to an introspection query. Throws a UserError. */
export function readOldSchema(path: string): GraphQLSchema {
  const text = readTextFile(path);
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

/** What a document loses where it names an element. Whether a literal still has its type is a question of validation. */
const LOST = /^(?:TYPE|FIELD|FIELD_ARGUMENT|ENUM_VALUE|INPUT_FIELD|DIRECTIVE|DIRECTIVE_ARGUMENT)_REMOVED$|^FIELD_TYPE_/;
/** What it loses of the type of a variable: it does not show which fields and values clients send. */
const LOST_BY_VARIABLE = /^(?:INPUT_FIELD|ENUM_VALUE)_/;
const DEFAULT = /_DEFAULT_(?:VALUE_)?CHANGED$/;

/** A change of an element, which is called `name` in its `owner`: a type, a field or a directive. */
interface SchemaChange {
  kind: string;
  isBreaking: boolean;
  owner: string;
  name: string;
  coordinate: string;
  message: string;
}

function changeOf({ type, path = '', message, criticality }: Change, present: GraphQLSchema): SchemaChange {
  const kind = type as string;
  const at = path.lastIndexOf('.');
  const [owner, name] = [path.slice(0, Math.max(at, 0)), path.slice(at + 1)];
  const coordinate = kind.includes('ARGUMENT') ? `${owner}(${name}:)` : path;
  const isBreaking =
    criticality.level === CriticalityLevel.Breaking || (DEFAULT.test(kind) && isRequired(owner, name, present));
  return { kind, isBreaking, owner, name, coordinate, message: `${message}.` };
}

/** Whether clients must send this field of an input object. A field that loses its default may have become required. */
function isRequired(owner: string, name: string, schema: GraphQLSchema): boolean {
  const type = schema.getType(owner);
  const field = isInputObjectType(type) ? type.getFields()[name] : undefined;
  return field !== undefined && isRequiredInputField(field);
}

/** Returns a function that compares one document; its result is undefined if the document was not valid under the old schema either. */
export async function createLostFinder(old: GraphQLSchema, present: GraphQLSchema) {
  // Defaults of a schema from a text are complete: those of the fields of an input object are in that of its argument.
  const now = buildSchema(printSchema(present));
  const changes = (await diff(old, now)).map((change) => changeOf(change, now));

  return (document: DocumentNode): Lost[] | undefined => {
    if (validate(old, document).length > 0) return undefined;
    const lost = new Map<string, Lost>();
    const maybeAbsent = absentVariables(document);
    const note = (severity: Lost['severity'], node: ASTNode, isMeant: (change: SchemaChange) => boolean) => {
      for (const { coordinate, message } of changes.filter(isMeant))
        if (!lost.has(coordinate)) lost.set(coordinate, { severity, coordinate, node, message });
    };
    const uses = usesOf(old, document);
    const variables = variableTypesOf(old, document);
    for (const { coordinate, node } of uses)
      note('error', node, (each) => each.isBreaking && each.coordinate === coordinate && LOST.test(each.kind));
    for (const { type, node } of variables)
      note('error', node, (each) => each.isBreaking && each.owner === type.name && LOST_BY_VARIABLE.test(each.kind));
    const owners = [...uses, ...variables.map(({ type, node }) => ({ coordinate: type.name, node }))];
    for (const { coordinate, node } of owners)
      note('warning', node, ({ kind, owner, name }) => {
        return DEFAULT.test(kind) && owner === coordinate && !isGiven(name, node, maybeAbsent);
      });
    return [...lost.values()];
  };
}

/** Whether a field, a directive or an object has a value for this name, whatever the variables are. */
function isGiven(name: string, node: ASTNode, maybeAbsent: ReadonlySet<string>): boolean {
  const given: readonly (ArgumentNode | ObjectFieldNode)[] =
    'arguments' in node ? (node.arguments as readonly ArgumentNode[]) : node.kind === Kind.OBJECT ? node.fields : [];
  const value = given.find((each) => each.name.value === name)?.value;
  return value !== undefined && !(value.kind === Kind.VARIABLE && maybeAbsent.has(value.name.value));
}

/** Which operations spread a fragment is not followed: any of their variables may be absent. */
function absentVariables(document: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    VariableDefinition({ type, defaultValue, variable }) {
      if (type.kind !== Kind.NON_NULL_TYPE && !defaultValue) names.add(variable.name.value);
    },
  });
  return names;
}
