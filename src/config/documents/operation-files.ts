/** Reads operations from GraphQL files and folders, and checks them against the schema. */
import {
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  Source,
  TokenKind,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import { oncePer } from '../../lib/remember.ts';
import { asSent } from './client-directives.ts';
import { graphqlFiles } from './graphql-files.ts';
import { readTextFile } from '../../lib/text/read-text.ts';
import { UserError } from '../../lib/user-error.ts';

export interface FileOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

interface FoundOperation extends FileOperation {
  /** Its file. */
  path: string;
}

/** The operations of GraphQL files and of folders of them. Throws a UserError if one is not valid. */
export function readOperations(paths: readonly string[], schema: GraphQLSchema): FileOperation[] {
  const found = findOperations(paths, (path, { message }) => {
    throw new UserError(`${path}: ${message}`);
  });
  for (const { path, document, operation } of found) {
    const [error] = validate(schema, document);
    if (error) throw new UserError(`${path}: ${operation.name?.value ?? 'an operation'}: ${error.message}`);
  }
  return found;
}

/**
 * The operations of GraphQL files and of folders, not validated, as clients send them. Each has the fragments it needs: those of its own
 * file first, then those of the others. Equal fragments of several files are one, and a name that its own file has is that of no other.
 */
export function findOperations(
  paths: readonly string[],
  onError: (path: string, error: GraphQLError) => void,
): FoundOperation[] {
  const files = graphqlFiles(paths).flatMap((path) => parsed(path, onError));
  const fragments = files.flatMap(({ definitions }) => definitions.filter(isFragment));
  const texts = fragments.map(print);
  const distinct = fragments.filter((_, at) => texts.indexOf(texts[at]!) === at);
  return files.flatMap(({ path, definitions }) => {
    const ownNames = new Set(definitions.filter(isFragment).map(nameOf));
    const others = distinct.filter((each) => !ownNames.has(nameOf(each)));
    return definitions.filter(isOperation).map((operation) => {
      const document = withFragments(operation, definitions, others);
      return { path, operation, document: asSent(document) };
    });
  });
}

/** The operation with the fragments that it needs, in the order of its own file and of the others. */
function withFragments(
  operation: OperationDefinitionNode,
  own: readonly DefinitionNode[],
  others: readonly FragmentDefinitionNode[],
): DocumentNode {
  const known = [...own.filter(isFragment), ...others];
  const needed = new Set<DefinitionNode>([operation]);
  // What is added meanwhile is visited too.
  for (const node of needed)
    for (const name of spreadsIn(node)) for (const each of known) if (nameOf(each) === name) needed.add(each);
  return { kind: Kind.DOCUMENT, definitions: [...own, ...others].filter((each) => needed.has(each)) };
}

const nameOf = (fragment: FragmentDefinitionNode): string => fragment.name.value;

const spreadsIn = oncePer((definition: DefinitionNode): string[] => {
  const names: string[] = [];
  visit(definition, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
});

const isOperation = (node: DefinitionNode): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION;
const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION;

function parsed(path: string, onError: (path: string, error: GraphQLError) => void) {
  try {
    const source = new Source(readTextFile(path), path);
    // A file that is empty, or has comments only.
    if (new Lexer(source).advance().kind === TokenKind.EOF) return [];
    return [{ path, definitions: parse(source).definitions }];
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    onError(path, error);
    return [];
  }
}
