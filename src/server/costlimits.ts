/** What an operation may cost: decided by its plan, before anything is run. */
import { GraphQLError } from 'graphql';
import type { Config } from '../config.ts';
import { mostOf } from '../graph/cost.ts';
import type { PlanCheck } from '../graph/planner.ts';

/** Refuses a plan that may cost too much, and names the field that costs most: the one to change. */
export function costCheck({ maxUpstreamCalls: limit }: Pick<Config, 'maxUpstreamCalls'>): PlanCheck {
  return (plan, variables) => {
    const { max, fields } = mostOf(plan, variables);
    if (max <= limit) return undefined;
    const dearest = fields.reduce((a, b) => (b.max > a.max ? b : a));
    return new GraphQLError(
      `The operation may cost ${max} calls of the service, at most ${limit} are allowed; ${dearest.coordinate} alone ${dearest.max}.`,
      {
        extensions: { code: 'TOO_MANY_CALLS', limit, actual: max, field: dearest.path, coordinate: dearest.coordinate },
      },
    );
  };
}
