import { connections, introspection, valueTypes } from '../../generated/operations.ts';

/** The options of urql's Graphcache: `cacheExchange(cacheOptions(relayPagination))`. */
export function cacheOptions<Resolver>(paginate: () => Resolver): {
  schema: typeof introspection;
  keys: Record<string, () => null>;
  resolvers: Record<string, Record<string, Resolver>>;
} {
  const resolvers = Object.entries(connections).map(
    ([type, lists]) => [type, Object.fromEntries(Object.keys(lists).map((field) => [field, paginate()]))] as const,
  );
  return {
    schema: introspection,
    // Types without an id are stored in their parent.
    keys: Object.fromEntries(valueTypes.map((type) => [type, () => null])),
    resolvers: Object.fromEntries(resolvers),
  };
}
