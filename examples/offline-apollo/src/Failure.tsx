import { CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import { isOutage } from './outage.ts';

/** Why a page may miss something, or be old. A refusal is said where its list would be. */
export function OutageNotice({ error }: { error: ErrorLike | undefined }) {
  const isRefusal =
    CombinedGraphQLErrors.is(error) && error.errors.some(({ extensions }) => extensions?.code !== undefined);
  if (!error || (isRefusal && !isOutage(error.errors))) return null;
  return (
    <p className="soft" id="outage" role="status">
      The service does not respond: some of this may be missing, or be what you saw last.
    </p>
  );
}

/** In the place of a list that is null: an empty list looks different. */
export function NoList() {
  return <p className="soft no-list">This list was refused, or could not be loaded.</p>;
}
