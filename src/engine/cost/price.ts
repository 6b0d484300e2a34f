/** What an operation may cost whatever its variables are: the worst case over all their values. */
import { type DocumentNode, visit } from 'graphql';
import { tiers } from '../../api/endpoint.ts';
import type { PlanViewer } from '../plan/plan-operation.ts';
import { type CostRange, anyCaller } from './cost-range.ts';
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
 * The price of what costs so much. No run makes more than `maxCalls`. `limited`: the calls that count towards the rate limit, as
 * `GET /v2/book/:id`. `withMore` adds calls to those of a plan.
 */
export function priceOf(
  { calls: { likely }, worst }: CostRange,
  { maxCalls, limited, withMore }: { maxCalls: number; limited: ReadonlySet<string>; withMore?: WithMore },
): Price {
  const prices = worst.map(({ calls }) => {
    const { services, fields } = withMore?.(calls) ?? calls;
    const film = fields.reduce((sum, { endpoint, max }) => (limited.has(endpoint) ? sum + max : sum), 0);
    return { likely, catalog: services.catalog.max, events: services.events.max, film };
  });
  const most = (of: keyof Price) => Math.min(Math.max(...prices.map((price) => price[of])), maxCalls);
  return { likely: most('likely'), catalog: most('catalog'), events: most('events'), film: most('film') };
}

/** With all fields, and delivered whole. */
export const withoutDirectives = (document: DocumentNode): DocumentNode => visit(document, { Directive: () => null });
