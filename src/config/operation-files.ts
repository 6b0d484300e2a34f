/** Reads operations from GraphQL files and folders, and checks them against the schema. */
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
  parse,
  separateOperations,
  validate,
} from 'graphql';
import { ManifestError } from './trusted-documents.ts';

export interface FileOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/**
 * The operations of GraphQL files and of folders of them. Each has the fragments it needs: those of its own file first, then those of the
 * others.
 */
export function readOperations(paths: readonly string[], schema: GraphQLSchema): FileOperation[] {
  const files = paths.flatMap(filesAt).map((path) => ({ path, definitions: parsed(path).definitions }));
  return files.flatMap(({ path, definitions }) => {
    const own = new Set(definitions.filter(isFragment).map(({ name }) => name.value));
    const others = files
      .flatMap((file) => file.definitions.filter(isFragment))
      .filter(({ name }) => !own.has(name.value));
    const separate = separateOperations({ kind: Kind.DOCUMENT, definitions: [...definitions, ...others] });
    return Object.values(separate).flatMap((document) => {
      const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
      if (!operation) return [];
      const [error] = validate(schema, document);
      if (error) throw new ManifestError(`${path}: ${operation.name?.value ?? 'an operation'}: ${error.message}`);
      return [{ document, operation }];
    });
  });
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
