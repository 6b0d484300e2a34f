import { connections, deletions, possibleTypes, valueTypes } from '../../generated/operations.ts';
import { type FieldPolicy, pagedList } from './apollo-pages.ts';
import { typeOfId } from './ids.ts';

/** A structural part of Apollo's `TypePolicy`, so that this package does not need Apollo Client. */
export interface TypePolicy {
  keyFields?: false;
  merge?: true;
  fields?: Record<string, FieldPolicy | typeof deletedId>;
}

/** The options of Apollo Client's cache: `new InMemoryCache(cacheOptions())`. */
export function cacheOptions(): {
  possibleTypes: Record<string, string[]>;
  typePolicies: Record<string, TypePolicy>;
} {
  const typePolicies: Record<string, TypePolicy> = {};
  // Types without an id are merged into their parent: otherwise a page with fewer fields would remove those of another.
  for (const type of valueTypes) typePolicies[type] = { keyFields: false, merge: true };
  for (const [type, lists] of Object.entries(connections)) {
    const fields = Object.keys(lists).map((field) => [field, pagedList()] as const);
    typePolicies[type] = { ...typePolicies[type], fields: Object.fromEntries(fields) };
  }
  for (const type of deletions) typePolicies[type] = { ...typePolicies[type], fields: { deletedId } };
  return { possibleTypes, typePolicies };
}

/** A structural part of Apollo's cache. */
interface Cache {
  identify(object: { __typename: string; id: string }): string | undefined;
  evict(options: { id?: string }): boolean;
}

/** What a mutation deleted leaves the cache, and so all lists. */
const deletedId = {
  merge(_: unknown, id: string | null, { cache }: { cache: Cache }): string | null {
    const key = id === null ? undefined : cache.identify({ __typename: typeOfId(id), id });
    if (key !== undefined) cache.evict({ id: key });
    return id;
  },
};
