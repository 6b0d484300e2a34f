/** What an operation may cost whatever its variables are: the worst case over all their values. */
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, getOperationAST, visit } from 'graphql';
import { tiers } from '../../api/endpoint.ts';
import { filmEndpoints } from '../../api/film.ts';
import { worstCaseOf } from './call-cost.ts';
import { type Variables, hasVariables } from '../plan/document.ts';
import type { OperationPlan } from '../plan/operation-plan.ts';
import { type PlanViewer, planOperation } from '../plan/plan-operation.ts';
import { dearestVariables } from './variable-bounds.ts';

/** The most upstream calls that one run may make, retries not counted. */
export interface Price {
  catalog: number;
  events: number;
  /** Calls of the catalog that count towards the rate limit of the basic film tier. */
  film: number;
}

const filmCalls = new Set(Object.values(filmEndpoints).map(({ method, path }) => `${method} ${path}`));

/** Every kind of caller that plans differ for. */
export const planViewers: readonly PlanViewer[] = [null, ...tiers].flatMap((filmTier) =>
  [true, false].map((isLoggedIn) => ({ isLoggedIn, filmTier })),
);

/**
 * An operation that may cost more than `maxCalls` with some variables is rejected with these, so that is the most. Viewers of each tier are
 * planned for: a tier that gets no embedded first pages needs more calls.
 */
export function priceOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  maxCalls: number,
): Price {
  const variables = dearestVariables(schema, operation);
  const plans = planViewers.map((viewer) => planWhole(schema, document, operation, viewer, variables));
  const prices = plans.map((plan): Price => {
    const { services, fields } = worstCaseOf(plan, variables).calls;
    const film = fields.reduce((sum, { endpoint, max }) => (filmCalls.has(endpoint) ? sum + max : sum), 0);
    return { catalog: services.catalog.max, events: services.events.max, film };
  });
  // `node` and `nodes` cost what the types of the given ids cost.
  const namesRecords = plans[0]!.root.fields.some(({ rule, nodes }) => rule.recordCounts && hasVariables(nodes[0]!));
  const least = namesRecords ? maxCalls : 0;
  const most = (of: keyof Price) => Math.min(Math.max(least, ...prices.map((price) => price[of])), maxCalls);
  return { catalog: most('catalog'), events: most('events'), film: most('film') };
}

/** The plan with everything that a variable may leave out: a selection with more fields never costs less. */
export function planWhole(
  schema: GraphQLSchema,
  document: DocumentNode,
  { name }: OperationDefinitionNode,
  viewer: PlanViewer,
  variables: Variables,
): OperationPlan {
  const whole = visit(document, { Directive: () => null });
  return planOperation(schema, whole, getOperationAST(whole, name?.value)!, viewer, variables);
}
