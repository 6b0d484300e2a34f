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

interface SourceFile {
  path: string;
  definitions: readonly DefinitionNode[];
}

export interface FileOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/**
 * The operations of GraphQL files and of folders of them. Each has the fragments it needs: those of its own file first, then those of the
 * others.
 */
export function readOperations(paths: readonly string[], schema: GraphQLSchema): FileOperation[] {
  const files = paths.flatMap(filesAt).map((path): SourceFile => ({ path, definitions: parsed(path).definitions }));
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
