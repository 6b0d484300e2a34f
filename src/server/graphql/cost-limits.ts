/** Limits on the cost of an operation, checked on its plan before anything is run. */
import { GraphQLError } from 'graphql';
import type { Config } from '../../config/settings.ts';
import type { ClientCode } from '../../graph/errors/codes.ts';
import { type CallCost, worstCaseOf } from '../../graph/engine/call-cost.ts';
import type { PlanCheck } from '../../graph/engine/plan-cache.ts';

/** Rejects a plan that may cost too much. The error names the most expensive field, which is the one to change. */
export function costCheck(limits: Pick<Config, 'maxUpstreamCalls' | 'maxItems' | 'maxValues'>): PlanCheck {
  const { maxUpstreamCalls, maxItems, maxValues } = limits;
  return (plan, variables) => {
    const { calls, items, values } = worstCaseOf(plan, variables);
    if (calls.max > maxUpstreamCalls)
      return tooMany('TOO_MANY_CALLS', 'cost', 'calls of the service', maxUpstreamCalls, calls.max, dearestCall(calls));
    if (items.max > maxItems)
      return tooMany('TOO_MANY_ITEMS', 'show', 'items of lists', maxItems, items.max, items.dearest);
    if (values.max > maxValues)
      return tooMany('TOO_MANY_VALUES', 'show', 'values', maxValues, values.max, values.dearest);
    return undefined;
  };
}

/** The field that contributes most to a cost. */
interface Dearest {
  path: string;
  coordinate: string;
  max: number;
}

const dearestCall = ({ fields }: CallCost): Dearest => fields.reduce((a, b) => (b.max > a.max ? b : a));

const tooMany = (
  code: ClientCode,
  does: string,
  what: string,
  limit: number,
  actual: number,
  { path, coordinate, max }: Dearest,
): GraphQLError =>
  new GraphQLError(
    `The operation may ${does} ${actual} ${what}, at most ${limit} are allowed; ${coordinate} alone ${max}.`,
    { extensions: { code, limit, actual, field: path, coordinate } },
  );
