/** The plan of a request with a key. */
import type { CallCost } from '../../../engine/cost/worst-case.ts';
import { withKey } from '../../graphql/plan-request.ts';
import type { Outcome, WholeOutcome } from '../../graphql/outcome.ts';

/** The outcome of `x-explain: plan` with the calls that a key adds. */
export function withKeyPrice(outcome: Outcome): Outcome {
  const { result } = outcome as WholeOutcome;
  const planned = result.extensions?.upstream as CallCost | undefined;
  if (!planned?.fields) return outcome;
  return { ...outcome, result: { ...result, extensions: { ...result.extensions, upstream: withKey(planned) } } };
}
