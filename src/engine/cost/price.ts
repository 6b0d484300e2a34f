/** What an operation may cost whatever its variables are: the worst case over all their values. */
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, getOperationAST, visit } from 'graphql';
import { tiers } from '../../api/endpoint.ts';
import { type Variables, withoutIncremental } from '../plan/document.ts';
import type { OperationPlan } from '../plan/operation-plan.ts';
import { type PlanViewer, planOperation } from '../plan/plan-operation.ts';
import { anyCaller, casesOfAny, plansOf, worstOf } from './cost-range.ts';
import type { CallCost } from './worst-case.ts';

/** The upstream calls of one run, retries not counted. */
export interface Price {
  /** All calls that are likely; the rest are the most. */
  likely: number;
  catalog: number;
  events: number;
  /** Calls of the catalog that count towards the rate limit of the basic film tier. */
  film: number;
}

type WithMore = (calls: CallCost) => CallCost;
/** Every kind of caller that plans differ for. */
export const planViewers: readonly PlanViewer[] = [
  anyCaller,
  { isLoggedIn: false, filmTier: null },
  ...tiers.flatMap((filmTier) => [true, false].map((isLoggedIn) => ({ isLoggedIn, filmTier }))),
];

/**
 * By the worst cases of `costOfAny`, for callers of each tier: a tier that gets no embedded first pages needs more calls. No run makes more
 * than `maxCalls`. `limited`: the calls that count towards the rate limit, as `GET /v2/book/:id`. `withMore` adds calls to those of a plan.
 */
export function priceOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  { maxCalls, limited, withMore }: { maxCalls: number; limited: ReadonlySet<string>; withMore?: WithMore },
): Price {
  const priced = {
    schema,
    documents: [document],
    operation,
    planFor: plansOf(schema, operation, Infinity),
    viewers: planViewers,
  };
  const cases = casesOfAny(priced);
  const usual = cases.filter(({ viewer }) => viewer === anyCaller).map(worstOf);
  const whole = casesOfAny({ ...priced, documents: [withoutDirectives(document)] });
  const prices = [...cases, ...whole].map((each) => {
    const { calls } = worstOf(each);
    const { services, fields } = withMore?.(calls) ?? calls;
    const film = fields.reduce((sum, { endpoint, max }) => (limited.has(endpoint) ? sum + max : sum), 0);
    return { catalog: services.catalog.max, events: services.events.max, film };
  });
  const most = (of: keyof (typeof prices)[0]) => Math.min(Math.max(...prices.map((price) => price[of])), maxCalls);
  const likely = Math.min(Math.max(...usual.map(({ calls }) => calls.likely)), maxCalls);
  return { likely, catalog: most('catalog'), events: most('events'), film: most('film') };
}

/** The plan of the response delivered whole; unless the variables are known, with everything that a variable may leave out. */
export function planWhole(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  viewer: PlanViewer,
  variables: Variables,
  areKnown: boolean,
): OperationPlan {
  const all = areKnown ? withoutIncremental(document) : withoutDirectives(document);
  return planOperation(schema, all, getOperationAST(all, operation.name?.value)!, viewer, variables);
}

/** With all fields, and delivered whole. */
export const withoutDirectives = (document: DocumentNode): DocumentNode => visit(document, { Directive: () => null });
