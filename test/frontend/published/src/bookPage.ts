import {
  BookDocument,
  type BookQuery,
  type CollectMutationVariables,
  connections,
  valueTypes,
} from 'catalog-graphql/operations';
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';

type ResultOf<Document> = Document extends DocumentTypeDecoration<infer Result, never> ? Result : never;

export const headline = ({ book }: ResultOf<typeof BookDocument>): string =>
  `${book?.title} ${book?.rating?.average?.toFixed(1)}`;

export const times = ({ book }: BookQuery): string[] =>
  (book?.annotations?.nodes ?? []).map(({ time }) => time?.slice(0, 10) ?? '');

export const wish: CollectMutationVariables = { book: '1003078', status: 'WISH' };

export const lists: string[] = [...Object.keys(connections), ...valueTypes];
