/** What a client is told of the errors of an operation: refusals and faults in our words, everything else not at all. */
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { toClientError } from '../../graph/errors/to-client-error.ts';
import {
  type SelectionPlan,
  type PlannedField,
  type OperationPlan,
  responseKeyOf,
} from '../../graph/engine/operation-plan.ts';
import { withoutStack } from '../../upstream/errors.ts';

export function maskErrors(
  errors: readonly GraphQLError[],
  plan: OperationPlan,
  { requestId }: { requestId: string },
  log: Logger,
): readonly GraphQLError[] {
  const refusedTiers = new Set<string>();
  return errors.flatMap((error) => {
    const cause = error.originalError;
    const field = fieldAt(error.path ?? [], plan.root);
    const coordinate = field && `${field.parent}.${field.field.name}`;
    if (!cause && (!error.path || error.extensions.code)) return [error];
    if (cause instanceof GraphQLError)
      return [reworded(error, field, cause.message, { ...codeOf(cause), ...cause.extensions, coordinate })];
    const known = toClientError(cause);
    if (known) {
      // A list would say the same of each of its items.
      if (known.extensions.code === 'TIER_REQUIRED') {
        if (refusedTiers.has(coordinate ?? '')) return [];
        refusedTiers.add(coordinate ?? '');
      }
      return [reworded(error, field, known.message, { ...known.extensions, coordinate })];
    }
    log.error({ err: cause, requestId, coordinate }, 'a field failed');
    return [reworded(error, field, 'Something went wrong.', { code: 'INTERNAL_SERVER_ERROR', requestId, coordinate })];
  });
}

/** What graphql itself finds wrong with an argument or a directive has a place in the document, and no code. */
const codeOf = ({ nodes, extensions }: GraphQLError): object =>
  extensions.code === undefined && nodes?.length ? { code: 'BAD_USER_INPUT' } : {};

/** The field that a response path leads to: executors name it by different means, the path is the same. */
function fieldAt(path: readonly (string | number)[], root: SelectionPlan): PlannedField | undefined {
  let below: readonly SelectionPlan[] = [root];
  let found: PlannedField[] = [];
  for (const key of path) {
    if (typeof key === 'number') continue;
    const selected = below.flatMap((each) => [each, ...each.deferred]).flatMap(({ fields }) => fields);
    found = selected.filter((field) => responseKeyOf(field) === key); // several, if some are deferred
    below = found.flatMap((field) => [...field.selections.values()]);
  }
  return found[0];
}

function reworded(
  error: GraphQLError,
  field: PlannedField | undefined,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLError {
  const { path = null, nodes = field?.nodes ?? null } = error;
  return withoutStack(() => new GraphQLError(message, { nodes, path, extensions }));
}
