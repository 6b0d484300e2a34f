/** What an operation may cost whatever its variables are: the worst case over all their values. */
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, getOperationAST, visit } from 'graphql';
import { tiers } from '../../api/endpoint.ts';
import type { Variables } from '../plan/document.ts';
import type { OperationPlan } from '../plan/operation-plan.ts';
import { type PlanViewer, planOperation } from '../plan/plan-operation.ts';
import { type PricedOperation, worstCasesOfAny } from './cost-range.ts';

/** The most upstream calls that one run may make, retries not counted. */
export interface Price {
  catalog: number;
  events: number;
  /** Calls of the catalog that count towards the rate limit of the basic film tier. */
  film: number;
}

/** Every kind of caller that plans differ for. */
export const planViewers: readonly PlanViewer[] = [null, ...tiers].flatMap((filmTier) =>
  [true, false].map((isLoggedIn) => ({ isLoggedIn, filmTier })),
);

/**
 * By the worst cases of `costOfAny`, for callers of each tier: a tier that gets no embedded first pages needs more calls. An operation that
 * may cost more than `maxCalls` with some variables is rejected with these, so that is the most. `limited`: the calls that count towards the
 * rate limit, as `GET /v2/book/:id`.
 */
export function priceOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  { maxCalls, limited }: { maxCalls: number; limited: ReadonlySet<string> },
): Price {
  const priced = { schema, document, operation, maxFields: Infinity, viewers: planViewers };
  const prices = [priced, whole(priced)].flatMap(worstCasesOfAny).map(({ calls: { services, fields } }): Price => {
    const film = fields.reduce((sum, { endpoint, max }) => (limited.has(endpoint) ? sum + max : sum), 0);
    return { catalog: services.catalog.max, events: services.events.max, film };
  });
  const most = (of: keyof Price) => Math.min(Math.max(...prices.map((price) => price[of])), maxCalls);
  return { catalog: most('catalog'), events: most('events'), film: most('film') };
}

/** The plan with everything that a variable may leave out: a selection with more fields never costs less. */
export function planWhole(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  viewer: PlanViewer,
  variables: Variables,
): OperationPlan {
  const { document: all, operation: found } = whole({ document, operation });
  return planOperation(schema, all, found, viewer, variables);
}

/** The operation without its directives: with all fields, and delivered whole. */
function whole<Operation extends Pick<PricedOperation, 'document' | 'operation'>>(given: Operation): Operation {
  const document = visit(given.document, { Directive: () => null });
  return { ...given, document, operation: getOperationAST(document, given.operation.name?.value)! };
}
