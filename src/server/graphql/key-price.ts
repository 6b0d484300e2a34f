/** What a mutation may cost with a key: reads before it is sent and after its response was lost, and a second sending. */
import type { WriteRule } from '../../upstream/write-guard.ts';
import type { CallCost } from '../../engine/cost/worst-case.ts';
import { writeRuleAt } from '../../engine/settle/write-rules.ts';

/**
 * The first request reads before it sends, and once more if the response is lost. A later one reads, sends again, and reads after a lost
 * response, or if the service says that the write is done.
 */
const moreCallsOf = ({ reads: [before, find] }: Pick<WriteRule, 'reads'>): number => Math.max(before + find, 2 * find);

/** The calls of a plan with those that a key adds. */
export function withKey(planned: CallCost): CallCost {
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
