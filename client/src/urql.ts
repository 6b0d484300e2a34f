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
  // An update of the payload itself would make it null in the result of the mutation.
  const removal = removalInto(deleted);
  updates.Mutation = Object.fromEntries(deletions.map((payload) => [mutationOf(payload), removal]));
  // Types without an id are stored in their parent.
  return {
    schema: introspection,
    keys: Object.fromEntries(valueTypes.map((type) => [type, () => null])),
    resolvers,
    updates,
  };
}

/** `deleteNote` of `DeleteNotePayload`. */
const mutationOf = (payload: string): string => `d${payload.slice(1, -'Payload'.length)}`;

/** What a mutation deleted leaves the cache, and so all lists; what else showed it is loaded again. */
const removalInto =
  (deleted: Set<string>): PageUpdate =>
  (result, _, cache, { fieldName, optimistic }) => {
    const payload = (result as Readonly<Record<string, object | null>>)[fieldName] ?? {};
    // A payload has no other field with an id, so that `deletedId` is found by any alias.
    const id: unknown = Object.values(payload).find((value) => typeof value === 'string' && value.includes(':'));
    if (typeof id !== 'string' || optimistic) return;
    const key = `${typeOfId(id)}:${id}`;
    deleted.add(key);
    cache.invalidate(key);
  };
