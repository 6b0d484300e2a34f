import type { DocumentNode } from 'graphql';
import { documentIds } from './document-ids.ts';

export { documentIds };

/** The id of a document of this package: `generateHash` of Apollo Client's `PersistedQueryLink`. */
export function documentId(document: DocumentNode): string {
  const [name] = document.definitions.flatMap((each) => (each.kind === 'OperationDefinition' ? each.name?.value : []));
  const ids: Record<string, string | undefined> = documentIds;
  const id = ids[name ?? ''];
  if (id === undefined) throw new Error(`The operation ${name} is not in the manifest of catalog-graphql-client.`);
  return id;
}
