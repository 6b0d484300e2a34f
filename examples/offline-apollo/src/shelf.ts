import type { ApolloCache } from '@apollo/client';
import {
  BookDocument,
  type CollectMutation,
  type CollectMutationVariables,
  type OnTheShelfFragment,
  ShelfDocument,
  type ShelfQuery,
} from 'catalog-graphql-client';

export const READER = 'alice';

/** All entries that are known, by what their status is now: a queued write may have moved them. */
export function entriesOf({ user }: ShelfQuery): OnTheShelfFragment[] {
  const all = [
    ...(user?.reading?.nodes ?? []),
    ...(user?.wish?.nodes ?? []),
    ...(user?.read?.edges.map(({ node }) => node) ?? []),
  ];
  return [...new Map(all.map((entry) => [entry.id, entry])).values()];
}

type Write = CollectMutationVariables & { book: string };

/** The expected result of a write: what is known of the entry, with the change. */
export function expected(cache: ApolloCache, title: string, { book, status, rating, tags, comment }: Write) {
  const before = cache.readQuery({ query: BookDocument, variables: { id: book } })?.book?.viewerCollection;
  const viewerCollection = {
    __typename: 'Collection',
    id: before?.id ?? `Collection:new:${book}`,
    status: status ?? 'READING',
    rating: rating == null ? null : { __typename: 'UserRating', value: rating, max: 5 },
    comment: comment ?? null,
    tagNames: [tags ?? []].flat(),
    updatedAt: new Date().toISOString(),
  };
  const shown = { __typename: 'Book', id: book, title, viewerCollection };
  return { collectBook: { __typename: 'CollectBookPayload', created: !before, book: shown } } as CollectMutation;
}

/** Adds a new entry to the shelf; a changed one is there already, and shows its new values by itself. */
export function showOnShelf(cache: ApolloCache, data: CollectMutation | null | undefined, id: string): void {
  const entry = data?.collectBook?.book?.viewerCollection;
  const book = cache.readQuery({ query: BookDocument, variables: { id } })?.book;
  if (!entry || !book) return;
  cache.updateQuery({ query: ShelfDocument, variables: { user: READER } }, (shelf) => {
    if (!shelf?.user?.reading || entriesOf(shelf).some((each) => each.id === entry.id)) return undefined;
    const cover = book.cover && { ...book.cover, small: book.cover.medium };
    const node = { ...entry, __typename: 'Collection', book: { ...book, cover } };
    return { user: { ...shelf.user, reading: { ...shelf.user.reading, nodes: [node, ...shelf.user.reading.nodes] } } };
  });
}
