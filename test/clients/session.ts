import { CombinedGraphQLErrors } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { ErrorLink } from '@apollo/client/link/error';
import { from, switchMap } from 'rxjs';

/**
 * Stands before the link of HTTP. `renew` gets a new token of the same user;
 * where it rejects, the user has to sign in.
 */
export function sessionLink(token: string, renew: () => Promise<string>) {
  let current = Promise.resolve(token);
  const bearer = new SetContextLink(async ({ headers, used = current }) => ({
    used,
    headers: { ...headers, authorization: `Bearer ${await used}` },
  }));
  const retry = new ErrorLink(({ error, operation, forward }) => {
    const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
    const codes = errors.map(({ extensions }) => extensions?.code);
    const { used, isRetry } = operation.getContext();
    if (isRetry || !codes.includes('UNAUTHENTICATED')) return undefined;
    // Requests that fail together renew the token once.
    if (used === current) {
      current = renew();
      current.catch(() => (current = Promise.resolve(token)));
    }
    operation.setContext({ used: current, isRetry: true });
    return from(current).pipe(switchMap(() => forward(operation)));
  });
  return retry.concat(bearer);
}
