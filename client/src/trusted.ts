import type { DocumentNode } from 'graphql';
import { documentIds, fingerprints } from './document-ids.ts';
import { fingerprintOf } from './fingerprint.ts';

export { documentIds };

/**
 * The id of a document of this package: `generateHash` of Apollo Client's `PersistedQueryLink`. Throws for another document, also for one
 * with the name of one of these.
 */
export function documentId(document: DocumentNode): string {
  const [name = ''] = document.definitions.flatMap((each) =>
    each.kind === 'OperationDefinition' ? (each.name?.value ?? []) : [],
  );
  const id = Object.hasOwn(documentIds, name) ? documentIds[name as keyof typeof documentIds] : undefined;
  if (id === undefined) throw new Error(`The operation ${name} is not in the manifest of catalog-graphql-client.`);
  if (fingerprints[name as keyof typeof documentIds] !== fingerprintOf(document))
    throw new Error(`The operation ${name} is not that of catalog-graphql-client: give yours another name.`);
  return id;
}
