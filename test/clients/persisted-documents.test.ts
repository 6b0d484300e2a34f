/** The manifest of GraphQL Code Generator, with the link of Apollo Client that the docs show. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import type { TypedDocumentNode } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { expect, onTestFinished, test, vi } from 'vitest';
import { frontEnd, run } from '../frontend/front-end.ts';
import { journey } from '../support/journey.ts';
import { afterUse } from '../support/hooks.ts';

type Persisted = TypedDocumentNode<unknown, { id: string }> & { __meta__: { hash: string } };

const folder = frontEnd('codegen', 'catalog-graphql-client');
const generated = await run(folder, ['graphql-codegen', '--config', 'codegen.ts']);
const persistedOperations = join(folder, 'src/gql/persisted-documents.json');
const { facade } = await journey({ persistedOperations, persistedOnly: 'on', automaticPersistedQueries: 'off' });

test.each([
  ['with their prefix', (hash: string) => hash],
  ['without their prefix', (hash: string) => hash.replace('sha256:', '')],
])(
  'Apollo Client sends the hashes of the client preset %s, and a facade with its manifest runs them',
  async (_, form) => {
    expect(generated).toMatchObject({ code: 0 });
    expect(readFileSync(persistedOperations, 'utf8')).toContain('__typename');
    const documents = (await import(pathToFileURL(join(folder, 'src/gql/graphql.ts')).href)) as Record<
      string,
      Persisted
    >;
    const sent = vi.spyOn(globalThis, 'fetch');
    onTestFinished(() => sent.mockRestore());
    const link = new PersistedQueryLink({ generateHash: (document) => form((document as Persisted).__meta__.hash) });
    const headers = { authorization: 'Bearer demo-alice' };
    const client = new ApolloClient({
      link: link.concat(new HttpLink({ uri: `${facade.url}/graphql`, headers })),
      cache: new InMemoryCache(),
    });
    afterUse(() => client.stop());
    const { data } = await client.query({ query: documents.FilmPageDocument!, variables: { id: '1295644' } });
    expect(data).toMatchObject({ subject: { __typename: 'Subject', genres: expect.any(Array) as unknown } });
    expect(sent.mock.calls.map(([, init]) => JSON.stringify(init?.body).includes('genres'))).toEqual([false]);
  },
);
