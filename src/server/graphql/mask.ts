/** Prepares the errors of an operation for the client. Expected errors get a message and a code; all others are masked. */
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { toClientError } from '../../engine/errors/to-client-error.ts';
import {
  type SelectionPlan,
  type PlannedField,
  type OperationPlan,
  responseKeyOf,
} from '../../engine/plan/operation-plan.ts';
import { withoutStack } from '../../upstream/errors.ts';

export function maskErrors(
  errors: readonly GraphQLError[],
  plan: OperationPlan,
  { requestId }: { requestId: string },
  log: Logger,
): readonly GraphQLError[] {
  const refusedPaths = new Set<string>();
  return errors.flatMap((error) => {
    const cause = error.originalError;
    const field = fieldAt(error.path ?? [], plan.root);
    const coordinate = field && `${field.parent}.${field.field.name}`;
    if (!cause && (!error.path || error.extensions.code)) return [error];
    if (cause instanceof GraphQLError) {
      const code = codeOf(cause);
      if (code === undefined) log.error({ err: cause, requestId, coordinate }, 'a field failed');
      const own = code === undefined ? { code: 'INTERNAL_SERVER_ERROR', requestId } : { code };
      return [replaced(error, field, cause.message, { ...own, ...cause.extensions, coordinate })];
    }
    const expected = toClientError(cause);
    if (expected) {
      // For a list, the same error would be repeated for each item.
      if (expected.extensions.code === 'TIER_REQUIRED') {
        const pathText = error.path?.filter((key) => typeof key === 'string').join('.') ?? '';
        if (refusedPaths.has(pathText)) return [];
        refusedPaths.add(pathText);
      }
      return [replaced(error, field, expected.message, { ...expected.extensions, coordinate })];
    }
    log.error({ err: cause, requestId, coordinate }, 'a field failed');
    return [replaced(error, field, 'Something went wrong.', { code: 'INTERNAL_SERVER_ERROR', requestId, coordinate })];
  });
}

/** Errors of graphql-js about an argument or a directive have nodes and no code, those about a value of a resolver neither. */
const codeOf = ({ nodes, extensions }: GraphQLError): unknown =>
  extensions.code ?? (nodes?.length ? 'BAD_USER_INPUT' : undefined);

/** The field at a response path. The path is the only thing that all executors report in the same way. */
function fieldAt(path: readonly (string | number)[], root: SelectionPlan): PlannedField | undefined {
  let plans: readonly SelectionPlan[] = [root];
  let found: PlannedField[] = [];
  for (const key of path) {
    if (typeof key === 'number') continue;
    const selected = plans.flatMap((each) => [each, ...each.deferred]).flatMap(({ fields }) => fields);
    found = selected.filter((field) => responseKeyOf(field) === key); // several, if some are deferred
    plans = found.flatMap((field) => [...field.selections.values()]);
  }
  return found[0];
}

function replaced(
  error: GraphQLError,
  field: PlannedField | undefined,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLError {
  const { path = null, nodes = field?.nodes ?? null } = error;
  return withoutStack(() => new GraphQLError(message, { nodes, path, extensions }));
}
