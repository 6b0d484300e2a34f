import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { cacheOptions } from '../../client/src/apollo.ts';
import { sessionLink } from './session.ts';

async function newToken(form?: FormData): Promise<string> {
  const response = await fetch('/session', { method: 'POST', body: form });
  if (response.status === 401) throw new Error('Sign in.');
  return ((await response.json()) as { token: string }).token;
}

/**
 * With the form the user signs in; without it, when the page is loaded, the
 * session of the cookie goes on. Rejects where the form is to be shown.
 * `signedOut` comes when a token has ended and no new one is given: show the
 * form, and drop the client with all that its cache has of this user.
 */
export async function signIn(signedOut: () => void, form?: FormData) {
  // The token is in memory alone: in no URL and in no storage.
  const token = await newToken(form);
  const renew = () =>
    newToken().catch((error: Error) => {
      signedOut();
      throw error;
    });
  const http = new HttpLink({ uri: '/graphql' });
  return new ApolloClient({
    link: sessionLink(token, renew).concat(http),
    cache: new InMemoryCache(cacheOptions()),
    defaultOptions: { watchQuery: { errorPolicy: 'all' } },
  });
}

export async function signOut(client: ApolloClient) {
  await fetch('/session', { method: 'DELETE' });
  await client.clearStore();
}
