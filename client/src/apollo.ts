import { connections, possibleTypes, valueTypes } from '../../generated/operations.ts';
import { type FieldPolicy, pagedList } from './apollo-pages.ts';

/** A structural part of Apollo's `TypePolicy`, so that this package does not need Apollo Client. */
export interface TypePolicy {
  keyFields?: false;
  merge?: true;
  fields?: Record<string, FieldPolicy>;
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
  return { possibleTypes, typePolicies };
}
