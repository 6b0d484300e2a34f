import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { BookDocument } from 'catalog-graphql-client';
import { cacheOptions } from 'catalog-graphql-client/urql';

const client = new Client({
  url: '/graphql',
  preferGetMethod: false,
  exchanges: [cacheExchange(cacheOptions()), fetchExchange],
});

export async function headline(id: string): Promise<string> {
  const { data } = await client.query(BookDocument, { id });
  return `${data?.book?.title} ${data?.book?.rating?.average?.toFixed(1)}`;
}
