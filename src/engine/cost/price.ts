/** What an operation may cost whatever its variables are: the worst case over all their values. */
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, visit } from 'graphql';
import { tiers } from '../../api/endpoint.ts';
import { withoutIncremental } from '../plan/document.ts';
import type { PlanViewer } from '../plan/plan-operation.ts';
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
  // With incremental delivery, it may also be run without.
  const documents = [...new Set([document, withoutIncremental(document)])];
  const planFor = plansOf(schema, operation, Infinity);
  const cases = casesOfAny({ schema, documents, operation, planFor, viewers: planViewers });
  const usual = cases.filter(({ viewer }) => viewer === anyCaller).map(worstOf);
  const prices = cases.map((each) => {
    const { calls } = worstOf(each);
    const { services, fields } = withMore?.(calls) ?? calls;
    const film = fields.reduce((sum, { endpoint, max }) => (limited.has(endpoint) ? sum + max : sum), 0);
    return { catalog: services.catalog.max, events: services.events.max, film };
  });
  const most = (of: keyof (typeof prices)[0]) => Math.min(Math.max(...prices.map((price) => price[of])), maxCalls);
  const likely = Math.min(Math.max(...usual.map(({ calls }) => calls.likely)), maxCalls);
  return { likely, catalog: most('catalog'), events: most('events'), film: most('film') };
}

/** With all fields, and delivered whole. */
export const withoutDirectives = (document: DocumentNode): DocumentNode => visit(document, { Directive: () => null });
