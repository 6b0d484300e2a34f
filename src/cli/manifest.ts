/** Writes a manifest of trusted documents: `catalog-graphql manifest`. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  parse,
  print,
  separateOperations,
  validate,
  visit,
} from 'graphql';
import { APOLLO_FORMAT, ManifestError, sha256Of } from '../config/trusted-documents.ts';

export interface ManifestOptions {
  /** `hashes`: `{ hash: text }`; `apollo`: Apollo's list of operations, which names them too. */
  format: 'hashes' | 'apollo';
  /** Texts as Apollo Client sends them: with `__typename` in every selection but the first. */
  typename: boolean;
}

/** The manifest of all operations in these files, and in the `.graphql` and `.gql` files of these folders; each printed with its fragments. */
export function createManifest(
  paths: readonly string[],
  schema: GraphQLSchema,
  { format, typename }: ManifestOptions,
): string {
  const operations = operationsIn(paths.flatMap(filesAt), schema).map(({ document, operation }) => {
    const body = print(typename ? withTypename(document) : document);
    return { id: sha256Of(body), name: operation.name?.value ?? '', type: operation.operation, body };
  });
  if (operations.length === 0) throw new ManifestError('There are no operations in these files.');
  if (format === 'hashes')
    return JSON.stringify(Object.fromEntries(operations.map(({ id, body }) => [id, body])), null, 2);
  const names = operations.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (names.includes('')) throw new ManifestError("Apollo's manifest tells operations by name: here is one without.");
  if (twice !== undefined)
    throw new ManifestError(`Apollo's manifest tells operations by name: ${twice} is there twice.`);
  return JSON.stringify({ format: APOLLO_FORMAT, version: 1, operations }, null, 2);
}

interface SourceFile {
  path: string;
  definitions: readonly DefinitionNode[];
}

/** Each operation with the fragments it needs: those of its own file first, then those of the others. */
function operationsIn(paths: readonly string[], schema: GraphQLSchema) {
  const files = paths.map((path): SourceFile => ({ path, definitions: parsed(path).definitions }));
  return files.flatMap((file) => {
    const foreign = files
      .filter((other) => other !== file)
      .flatMap(({ definitions }) => definitions.filter(isFragment));
    const own = new Set(file.definitions.filter(isFragment).map(({ name }) => name.value));
    const kept = foreign.filter(({ name }) => !own.has(name.value));
    const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [...file.definitions, ...kept] };
    return Object.values(separateOperations(document)).flatMap((each) => {
      const operation = each.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
      if (!operation) return [];
      refuseInvalid(file.path, operation, each, schema);
      return [{ document: each, operation }];
    });
  });
}

function refuseInvalid(
  path: string,
  { name }: OperationDefinitionNode,
  document: DocumentNode,
  schema: GraphQLSchema,
): void {
  const [error] = validate(schema, document);
  if (error) throw new ManifestError(`${path}: ${name?.value ?? 'an operation'}: ${error.message}`);
}

const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION;

function parsed(path: string): DocumentNode {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof GraphQLError) throw new ManifestError(`${path}: ${error.message}`);
    throw error;
  }
}

function filesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
  } catch (error) {
    throw new ManifestError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:graphql|gql)$/.test(file))
    .sort()
    .map((file) => join(path, file));
}

/** As Apollo Client does it when it sends a document: the hash is of this text. */
function withTypename(document: DocumentNode): DocumentNode {
  const typename = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } } as const;
  return visit(document, {
    SelectionSet: (set, _, parent): SelectionSetNode | undefined => {
      const isRoot = parent !== undefined && 'kind' in parent && parent.kind === Kind.OPERATION_DEFINITION;
      const isThere = set.selections.some((each) => each.kind === Kind.FIELD && each.name.value.startsWith('__'));
      return isRoot || isThere ? undefined : { ...set, selections: [...set.selections, typename] };
    },
  });
}
