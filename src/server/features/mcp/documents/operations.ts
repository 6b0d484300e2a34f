/** The reviewed operations that become tools: from GraphQL files, a folder of them, or a manifest of trusted documents. */
import {
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  TokenKind,
  parse,
  separateOperations,
  typeFromAST,
  validate,
} from 'graphql';
import { ConfigError } from '../../../../config/read.ts';
import { hasFiles } from './json-schema.ts';
import { type FileOperation, readOperations } from '../../../../config/documents/operation-files.ts';
import { readManifest } from '../../../../config/documents/trusted-documents.ts';
import { UserError } from '../../../../lib/user-error.ts';

export interface ReviewedOperation extends FileOperation {
  name: string;
  title: string;
  description: string;
}

/** Throws a ConfigError if the operations cannot be tools. Mutations are left out unless `writes`. */
export function readReviewedOperations(path: string, schema: GraphQLSchema, writes: boolean): ReviewedOperation[] {
  try {
    const found = path.endsWith('.json') ? operationsOfManifest(path, schema) : readOperations([path], schema);
    const operations = found
      .filter(({ operation }) => writes || operation.operation === OperationTypeNode.QUERY)
      .filter(({ operation }) => !isExample(operation) && !needsFiles(operation, schema))
      .map((each) => described(each, schema));
    const names = operations.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw new UserError(`the operation ${twice} is defined twice`);
    return operations;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new ConfigError([`MCP_OPERATIONS must name operations that can be tools: ${error.message}`]);
  }
}

function operationsOfManifest(path: string, schema: GraphQLSchema): FileOperation[] {
  return [...readManifest(path).values()].flatMap((text) => {
    const [invalid] = validate(schema, parse(text));
    if (invalid) throw new UserError(invalid.message);
    return Object.values(separateOperations(parse(text))).map((document) => ({
      document,
      operation: document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)!,
    }));
  });
}

function described({ document, operation }: FileOperation, schema: GraphQLSchema): ReviewedOperation {
  const name = operation.name?.value;
  if (name === undefined) throw new UserError('an operation has no name, but its tool needs one');
  const text = operation.description?.value ?? commentsBefore(operation).join(' ');
  const description = text.trim() || rootDescription(operation, schema);
  return { document, operation, name, title: titleOf(text, name), description };
}

/** The comment lines directly above the operation: they are no part of the syntax tree. */
function commentsBefore({ loc }: OperationDefinitionNode): string[] {
  const lines: string[] = [];
  let token = loc?.startToken.prev;
  for (; token?.kind === TokenKind.COMMENT; token = token.prev) lines.unshift(token.value.trim());
  return lines;
}

const rootDescription = ({ operation, selectionSet }: OperationDefinitionNode, schema: GraphQLSchema): string => {
  const [first] = selectionSet.selections;
  const field = first?.kind === Kind.FIELD ? schema.getRootType(operation)?.getFields()[first.name.value] : undefined;
  return field?.description ?? '';
};

const TITLE_MAX = 60;

/** The first clause of the description if it is short, else the words of the name: `MyShelf` is "My shelf". */
function titleOf(text: string, name: string): string {
  const clause = /^[^.:;,]+/.exec(text)?.[0].trim() ?? '';
  if (clause !== '' && clause.length <= TITLE_MAX) return clause;
  const words = name
    .replaceAll('_', ' ')
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The pages with an `x-explain` header show a feature of GraphiQL. */
const isExample = (operation: OperationDefinitionNode): boolean =>
  commentsBefore(operation).some((line) => line.startsWith('x-explain:'));

/** A file cannot be an argument of a tool. */
const needsFiles = ({ variableDefinitions = [] }: OperationDefinitionNode, schema: GraphQLSchema): boolean =>
  variableDefinitions.some(
    ({ type }) => type.kind === Kind.NON_NULL_TYPE && hasFiles(typeFromAST(schema, type as never) as GraphQLInputType),
  );
