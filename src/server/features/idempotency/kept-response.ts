/** A response as it is kept for a key, and as it is sent again. */
import { type ExecutionResult, GraphQLError } from 'graphql';
import { withoutStack } from '../../../upstream/errors.ts';
import type { ExecutableDocument } from '../../../engine/documents/prepare.ts';
import type { WholeOutcome } from '../../graphql/outcome.ts';

/** Errors have positions in the text of their document instead of its nodes. */
export const keptText = ({ errors, ...rest }: ExecutionResult): string =>
  JSON.stringify({
    errors: errors?.map(({ message, positions, path, extensions }) => ({ message, positions, path, extensions })),
    ...rest,
  });

export function readKept(text: string, document: ExecutableDocument): WholeOutcome {
  const { errors, ...rest } = JSON.parse(text) as ExecutionResult;
  const { source } = document.document.loc ?? {};
  const made = withoutStack(() => errors?.map(({ message, ...of }) => new GraphQLError(message, { ...of, source })));
  const result = made ? { errors: made, ...rest } : rest;
  return { result, document, session: undefined, price: undefined, cachePolicy: undefined, epoch: null };
}
