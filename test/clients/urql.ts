import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { connections, introspection, valueTypes } from '../../generated/operations.ts';

export function urqlClient(url: string, token: string) {
  return new Client({
    url,
    preferGetMethod: false, // GET works too, but POST is faster
    fetchOptions: { headers: { authorization: `Bearer ${token}`, 'x-graphql-csrf': '1' } },
    exchanges: [cacheExchange({ schema: introspection, keys: keys(), resolvers: resolvers() }), fetchExchange],
  });
}

/** Types without an id are stored in their parent. */
const keys = () => Object.fromEntries(valueTypes.map((type) => [type, () => null]));

const resolvers = () =>
  Object.fromEntries(
    Object.entries(connections).map(([type, lists]) => [
      type,
      Object.fromEntries(Object.keys(lists).map((field) => [field, relayPagination()])),
    ]),
  );
