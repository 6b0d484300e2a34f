import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { cacheOptions } from '../../client/src/urql.ts';

/** Another user gets another client: the cache has what one user may see. */
export function urqlClient(url: string, token?: string) {
  const user: Record<string, string> = token
    ? { authorization: `Bearer ${token}` }
    : {};
  return new Client({
    url,
    preferGetMethod: false, // GET works too, but POST is faster
    fetchOptions: { headers: { ...user, 'x-graphql-csrf': '1' } },
    exchanges: [cacheExchange(cacheOptions()), fetchExchange],
  });
}
