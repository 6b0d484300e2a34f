/** What a mutation may cost with a key: reads before it is sent and after its response was lost, and a second sending. */
import type { CallCost } from '../../../engine/cost/worst-case.ts';
import type { Outcome, WholeOutcome } from '../../graphql/outcome.ts';
import { writeRuleAt } from '../../../engine/settle/write-rules.ts';
import type { WriteRule } from '../../../upstream/write-guard.ts';

/**
 * The first request reads before it sends, and once more if the response is lost. A later one reads, sends again, and reads after a lost
 * response, or if the service says that the write is done.
 */
const moreCallsOf = ({ reads: [before, find] }: Pick<WriteRule, 'reads'>): number => Math.max(before + find, 2 * find);

/** The outcome with the calls that a key adds to its price, or to the one that `x-explain: plan` shows. */
export function withKeyPrice(outcome: Outcome): Outcome {
  const { result, price } = outcome as WholeOutcome;
  if (price) return { ...outcome, price: withKey(price) };
  const planned = result.extensions?.upstream as CallCost | undefined;
  if (!planned?.fields) return outcome;
  return { ...outcome, result: { ...result, extensions: { ...result.extensions, upstream: withKey(planned) } } };
}

function withKey(planned: CallCost): CallCost {
  const cost = structuredClone(planned);
  for (const field of cost.fields) {
    const found = writeRuleAt(field.endpoint);
    if (!found) continue;
    const more = field.max * moreCallsOf(found.rule);
    field.max += more;
    cost.max += more;
    cost.services[found.endpoint.service]!.max += more;
  }
  return cost;
}
