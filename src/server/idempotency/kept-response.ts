/** A response as it is kept for a key, and as it is sent again. */
import { type ExecutionResult, GraphQLError, Source } from 'graphql';
import { withoutStack } from '../../upstream/errors.ts';
import type { ExecutableDocument } from '../graphql/documents/prepare.ts';
import type { WholeOutcome } from '../graphql/outcome.ts';

interface KeptError {
  message: string;
  positions: readonly number[] | undefined;
  path: readonly (string | number)[] | undefined;
  extensions: Record<string, unknown>;
}

interface KeptResponse {
  data: ExecutionResult['data'];
  errors: readonly KeptError[] | undefined;
  extensions: Record<string, unknown> | undefined;
  /** Hashes of the files that were sent. */
  files: readonly string[];
}

export function keptText({ data, errors, extensions }: ExecutionResult, files: readonly string[]): string {
  const kept: KeptResponse = {
    data,
    errors: errors?.map(({ message, positions, path, extensions: more }) => ({
      message,
      positions,
      path,
      extensions: more,
    })),
    extensions: extensions,
    files,
  };
  return JSON.stringify(kept);
}

export function readKept(text: string, ready: ExecutableDocument): { outcome: WholeOutcome; files: readonly string[] } {
  const { data, errors, extensions, files } = JSON.parse(text) as KeptResponse;
  const source = ready.document.loc?.source ?? new Source('');
  const result: ExecutionResult = {
    ...(errors && { errors: errors.map((error) => withoutStack(() => errorOf(error, source))) }),
    ...(data !== undefined && { data }),
    ...(extensions && { extensions }),
  };
  return {
    outcome: { result, document: ready, session: undefined, cachePolicy: undefined, epoch: null },
    files,
  };
}

const errorOf = ({ message, positions, path, extensions }: KeptError, source: Source): GraphQLError =>
  new GraphQLError(message, { source, positions: positions ?? null, path: path ?? null, extensions });
