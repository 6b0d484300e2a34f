import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { cacheOptions } from '../../client/src/urql.ts';

export function urqlClient(url: string, token: string) {
  return new Client({
    url,
    preferGetMethod: false, // GET works too, but POST is faster
    fetchOptions: { headers: { authorization: `Bearer ${token}`, 'x-graphql-csrf': '1' } },
    exchanges: [cacheExchange(cacheOptions()), fetchExchange],
  });
}
