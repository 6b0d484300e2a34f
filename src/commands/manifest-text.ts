/** Writes a manifest of trusted documents: `catalog-graphql manifest`. */
import { type DocumentNode, type GraphQLSchema, Kind, type SelectionSetNode, print, visit } from 'graphql';
import { readOperations } from '../config/documents/operation-files.ts';
import { APOLLO_FORMAT, sha256Of } from '../config/documents/trusted-documents.ts';
import { UserError } from '../lib/user-error.ts';

export interface ManifestOptions {
  /** `hashes`: `{ hash: text }`; `apollo`: Apollo's list of operations with their names. */
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
  const operations = readOperations(paths, schema).map(({ document, operation }) => {
    const body = print(typename ? withTypename(document) : document);
    return { id: sha256Of(body), name: operation.name?.value ?? '', type: operation.operation, body };
  });
  if (operations.length === 0) throw new UserError('There are no operations in these files.');
  if (format === 'hashes')
    return JSON.stringify(Object.fromEntries(operations.map(({ id, body }) => [id, body])), null, 2);
  const names = operations.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (names.includes('')) throw new UserError("Apollo's manifest needs a name for each operation: one has no name.");
  if (twice !== undefined)
    throw new UserError(`Apollo's manifest needs a unique name for each operation: ${twice} is used twice.`);
  return JSON.stringify({ format: APOLLO_FORMAT, version: 1, operations }, null, 2);
}

/** Adds __typename as Apollo Client does before it sends a document, because the hash is that of the sent text. */
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
