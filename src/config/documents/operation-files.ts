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
import { graphqlFiles, readGraphqlFile } from './graphql-files.ts';
import { UserError } from '../../lib/user-error.ts';

export interface FileOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

export interface FoundOperation extends FileOperation {
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
 * The operations of GraphQL files and of folders, not validated, as clients send them. Each has the fragments it needs: those of its own file first, then those of the others.
 */
export function findOperations(
  paths: readonly string[],
  onError: (path: string, error: GraphQLError) => void,
): FoundOperation[] {
  const files = graphqlFiles(paths).flatMap((path) => parsed(path, onError));
  const fragments = new Map<string, Placed[]>();
  for (const [at, { definitions }] of files.entries())
    for (const definition of definitions.filter(isFragment)) {
      const { value: name } = definition.name;
      fragments.set(name, [...(fragments.get(name) ?? []), { at, definition }]);
    }
  return files.flatMap(({ path, definitions }, at) =>
    definitions.filter(isOperation).map((operation) => {
      const needed = fragmentsOf(operation, at, fragments);
      const own = definitions.filter((each) => each === operation || needed.has(each));
      const others = [...needed].filter((each) => !own.includes(each));
      const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [...own, ...others] };
      return { path, operation, document: asSent(whole) };
    }),
  );
}

/** A fragment, and the number of its file. */
interface Placed {
  at: number;
  definition: FragmentDefinitionNode;
}

/** The fragments that an operation needs, in the order of the files. A name that the file of the operation has is that of no other file. */
function fragmentsOf(
  operation: OperationDefinitionNode,
  file: number,
  fragments: ReadonlyMap<string, readonly Placed[]>,
): ReadonlySet<DefinitionNode> {
  const found = new Set<Placed>();
  const add = (node: DefinitionNode): void => {
    for (const name of spreadsIn(node)) {
      const all = fragments.get(name) ?? [];
      const own = all.filter(({ at }) => at === file);
      for (const each of own.length > 0 ? own : withoutCopies(all)) {
        if (found.has(each)) continue;
        found.add(each);
        add(each.definition);
      }
    }
  };
  add(operation);
  return new Set([...found].sort((a, b) => a.at - b.at || offsetOf(a) - offsetOf(b)).map((each) => each.definition));
}

/** Equal fragments of several files are one. */
const withoutCopies = (placed: readonly Placed[]): Placed[] =>
  placed.length < 2
    ? [...placed]
    : [...new Map(placed.toReversed().map((each) => [print(each.definition), each])).values()].toReversed();

const offsetOf = ({ definition: { loc } }: Placed): number => loc?.start ?? 0;

const spreadsIn = oncePer((definition: DefinitionNode): string[] => {
  const names: string[] = [];
  visit(definition, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
});

const isOperation = (node: DefinitionNode): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION;
const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION;

function parsed(path: string, onError: (path: string, error: GraphQLError) => void) {
  try {
    const source = new Source(readGraphqlFile(path), path);
    // A file that is empty, or has comments only.
    if (new Lexer(source).advance().kind === TokenKind.EOF) return [];
    return [{ path, definitions: parse(source).definitions }];
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    onError(path, error);
    return [];
  }
}
