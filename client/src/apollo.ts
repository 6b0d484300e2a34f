import { connections, possibleTypes, valueTypes } from '../../generated/operations.ts';

/** A structural part of Apollo's `TypePolicy`, so that this package does not need Apollo Client. */
export interface TypePolicy<FieldPolicy> {
  keyFields?: false;
  merge?: true;
  fields?: Record<string, FieldPolicy>;
}

/** The options of Apollo Client's cache: `new InMemoryCache(cacheOptions(relayStylePagination))`. */
export function cacheOptions<FieldPolicy>(paginate: (keyArgs: string[]) => FieldPolicy): {
  possibleTypes: Record<string, string[]>;
  typePolicies: Record<string, TypePolicy<FieldPolicy>>;
} {
  const typePolicies: Record<string, TypePolicy<FieldPolicy>> = {};
  // Types without an id are merged into their parent: otherwise a page with fewer fields would remove those of another.
  for (const type of valueTypes) typePolicies[type] = { keyFields: false, merge: true };
  for (const [type, lists] of Object.entries(connections)) {
    const fields = Object.entries(lists).map(([field, keyArgs]) => [field, paginate(keyArgs)] as const);
    typePolicies[type] = { ...typePolicies[type], fields: Object.fromEntries(fields) };
  }
  return { possibleTypes, typePolicies };
}
