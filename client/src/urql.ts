import { connections, deletions, introspection, valueTypes } from '../../generated/operations.ts';
import { typeOfId } from './ids.ts';
import { type PageUpdate, type PageResolver, pagedList } from './urql-pages.ts';

/** The options of urql's Graphcache: `cacheExchange(cacheOptions())`. */
export function cacheOptions(): {
  schema: typeof introspection;
  keys: Record<string, () => null>;
  resolvers: Record<string, Record<string, PageResolver>>;
  updates: Record<string, Record<string, PageUpdate>>;
} {
  const deleted = new Set<string>();
  const resolvers: Record<string, Record<string, PageResolver>> = {};
  const updates: Record<string, Record<string, PageUpdate>> = {};
  for (const [type, lists] of Object.entries(connections)) {
    const policies = Object.keys(lists).map((field) => [field, pagedList(deleted)] as const);
    resolvers[type] = Object.fromEntries(policies.map(([field, { resolve }]) => [field, resolve]));
    updates[type] = Object.fromEntries(policies.map(([field, { update }]) => [field, update]));
  }
  for (const type of deletions) updates[type] = { deletedId: removalInto(deleted) };
  // Types without an id are stored in their parent.
  return {
    schema: introspection,
    keys: Object.fromEntries(valueTypes.map((type) => [type, () => null])),
    resolvers,
    updates,
  };
}

/** What a mutation deleted leaves the cache, and so all lists; what else showed it is loaded again. */
const removalInto =
  (deleted: Set<string>): PageUpdate =>
  (result, _, cache, { fieldName, optimistic }) => {
    const id = (result as Readonly<Record<string, unknown>>)[fieldName];
    if (typeof id !== 'string' || optimistic) return;
    const key = `${typeOfId(id)}:${id}`;
    deleted.add(key);
    cache.invalidate(key);
  };
