/** The price of a request with a key. */
import type { CallCost } from '../../../engine/cost/worst-case.ts';
import { withKey } from '../../graphql/plan-request.ts';
import type { Outcome, WholeOutcome } from '../../graphql/outcome.ts';

/** The outcome with the calls that a key adds to its price, or to the one that `x-explain: plan` shows. */
export function withKeyPrice(outcome: Outcome): Outcome {
  const { result, price } = outcome as WholeOutcome;
  if (price) return { ...outcome, price: withKey(price) };
  const planned = result.extensions?.upstream as CallCost | undefined;
  if (!planned?.fields) return outcome;
  return { ...outcome, result: { ...result, extensions: { ...result.extensions, upstream: withKey(planned) } } };
}
