/** A response as it is kept for a key, and as it is sent again. */
import { type ExecutionResult, GraphQLError, Source } from 'graphql';
import { withoutStack } from '../../../upstream/errors.ts';
import type { ExecutableDocument } from '../../../engine/documents/prepare.ts';
import type { WholeOutcome } from '../../graphql/outcome.ts';

type KeptError = Pick<GraphQLError, 'message' | 'positions' | 'path' | 'extensions'>;

interface KeptResponse extends Pick<ExecutionResult, 'data' | 'extensions'> {
  errors: readonly KeptError[] | undefined;
}

export function keptText({ data, errors, extensions }: ExecutionResult): string {
  const keptErrors = errors?.map(({ message, positions, path, extensions }) => ({
    message,
    positions,
    path,
    extensions,
  }));
  return JSON.stringify({ data, errors: keptErrors, extensions } satisfies KeptResponse);
}

export function readKept(text: string, ready: ExecutableDocument): WholeOutcome {
  const { data, errors, extensions } = JSON.parse(text) as KeptResponse;
  const source = ready.document.loc?.source ?? new Source('');
  const result: ExecutionResult = {
    ...(errors && { errors: errors.map((error) => withoutStack(() => errorOf(error, source))) }),
    ...(data !== undefined && { data }),
    ...(extensions && { extensions }),
  };
  return { result, document: ready, session: undefined, price: undefined, cachePolicy: undefined, epoch: null };
}

const errorOf = ({ message, positions, path, extensions }: KeptError, source: Source): GraphQLError =>
  new GraphQLError(message, { source, positions: positions ?? null, path: path ?? null, extensions });
