/** The manifest of trusted documents: what the facade reads at its start, and what `catalog-graphql manifest` writes. */
import { createHash } from 'node:crypto';
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

/** Texts by their ids: the SHA-256 in hex, or what the tool that wrote the manifest calls them by. */
export type TrustedDocuments = ReadonlyMap<string, string>;

/** What is wrong with a manifest, or with what should become one, in words. */
export class ManifestError extends Error {}

const APOLLO_FORMAT = 'apollo-persisted-query-manifest';
const SHA256 = /^[0-9a-f]{64}$/;

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `sha256:…` and the bare hash are one id. */
export const bareId = (id: string): string => (id.startsWith('sha256:') ? id.slice('sha256:'.length) : id);

/**
 * Reads `{ id: text }`, as GraphQL Code Generator and the Relay compiler write it, or Apollo's list of operations.
 * An id that is a hash must be the hash of its text: clients may ask for the text by what they have computed themselves.
 */
export function readManifest(path: string): TrustedDocuments {
  const documents = new Map<string, string>();
  for (const [id, text] of entriesIn(jsonIn(path))) {
    const bare = bareId(id);
    if (SHA256.test(bare) && sha256Of(text) !== bare)
      throw new ManifestError(`${shown(id)} is not the hash of its text`);
    try {
      parse(text);
    } catch (error) {
      throw new ManifestError(`${shown(id)} is no document: ${(error as Error).message}`);
    }
    documents.set(bare, text);
  }
  if (documents.size === 0) throw new ManifestError('it has no documents');
  return documents;
}

function jsonIn(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ManifestError(`it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ManifestError('it is not JSON');
  }
}

function entriesIn(manifest: unknown): [id: string, text: string][] {
  if (!isObject(manifest)) throw new ManifestError('it is not an object of documents by their hashes');
  if (manifest.format === APOLLO_FORMAT) {
    const { version, operations } = manifest;
    if (version !== 1 || !Array.isArray(operations)) throw new ManifestError(`it is not version 1 of ${APOLLO_FORMAT}`);
    return operations.map((operation: unknown, at) => {
      const { id, body } = isObject(operation) ? operation : {};
      if (typeof id !== 'string' || typeof body !== 'string')
        throw new ManifestError(`operation ${at + 1} has no id or no body`);
      return [id, body];
    });
  }
  return Object.entries(manifest).map(([id, text]) => {
    if (typeof text !== 'string') throw new ManifestError(`${shown(id)} is not a text`);
    return [id, text];
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (id: string): string => JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);

export interface ManifestOptions {
  /** `hashes`: `{ hash: text }`; `apollo`: Apollo's list of operations, which names them too. */
  format: 'hashes' | 'apollo';
  /** Texts as Apollo Client sends them: with `__typename` in every selection but the first. */
  typename: boolean;
}

/** The manifest of all operations in these files, and in the `.graphql` and `.gql` files of these folders; each printed with its fragments. */
export function manifestOf(
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
