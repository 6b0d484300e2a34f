import { connections, introspection, valueTypes } from '../../generated/operations.ts';
import { type PageUpdate, type PageResolver, pagedList } from './urql-pages.ts';

/** The options of urql's Graphcache: `cacheExchange(cacheOptions())`. */
export function cacheOptions(): {
  schema: typeof introspection;
  keys: Record<string, () => null>;
  resolvers: Record<string, Record<string, PageResolver>>;
  updates: Record<string, Record<string, PageUpdate>>;
} {
  const resolvers: Record<string, Record<string, PageResolver>> = {};
  const updates: Record<string, Record<string, PageUpdate>> = {};
  for (const [type, lists] of Object.entries(connections)) {
    const policies = Object.keys(lists).map((field) => [field, pagedList()] as const);
    resolvers[type] = Object.fromEntries(policies.map(([field, { resolve }]) => [field, resolve]));
    updates[type] = Object.fromEntries(policies.map(([field, { update }]) => [field, update]));
  }
  // Types without an id are stored in their parent.
  return {
    schema: introspection,
    keys: Object.fromEntries(valueTypes.map((type) => [type, () => null])),
    resolvers,
    updates,
  };
}
