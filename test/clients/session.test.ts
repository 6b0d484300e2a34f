/** Sign-in and renewal, as docs/access.md prints them. */
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { expect, test, vi } from 'vitest';
import { journey } from '../support/journey.ts';
import { sessionLink } from './session.ts';

const { facade } = await journey();
const query = gql`
  query Mine($id: ID!) {
    user(id: "alice") {
      notes(first: 1) {
        nodes {
          title
        }
      }
    }
    book(id: $id) {
      title
    }
  }
`;

function clientWith(renew: () => Promise<string>) {
  const http = new HttpLink({ uri: `${facade.url}/graphql` });
  const link = ApolloLink.from([sessionLink('ended', renew), http]);
  return new ApolloClient({ link, cache: new InMemoryCache() });
}
const ask = (client: ApolloClient, id: string) =>
  client.query({ query, variables: { id }, fetchPolicy: 'network-only', errorPolicy: 'all' });

test('a token that has ended is renewed once for requests that fail together, and they are sent again', async () => {
  const renew = vi.fn(() => Promise.resolve('demo-alice'));
  const client = clientWith(renew);
  const results = await Promise.all(['6082808', '1003078'].map((id) => ask(client, id)));
  expect(results.map(({ error }) => error)).toEqual([undefined, undefined]);
  expect((await ask(client, '26340138')).error).toBeUndefined();
  expect(renew).toHaveBeenCalledTimes(1);
  client.stop();
});

test('where the token cannot be renewed, the request fails, and so it does if the new one is refused too', async () => {
  const failing = clientWith(() => Promise.reject(new Error('sign in')));
  expect((await ask(failing, '6082808')).error?.message).toBe('sign in');
  failing.stop();
  const renew = vi.fn(() => Promise.resolve('ended too'));
  const refused = clientWith(renew);
  expect((await ask(refused, '6082808')).error).toMatchObject({
    errors: expect.arrayContaining([
      expect.objectContaining({ extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }) }),
    ]),
  });
  expect(renew).toHaveBeenCalledTimes(1);
  refused.stop();
});
