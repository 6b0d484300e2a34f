/** What a mutation may cost with a key: reads before it is sent and after its response was lost, and a second sending. */
import type { ExecutionResult } from 'graphql';
import type { CallCost } from '../../../engine/cost/worst-case.ts';
import type { Outcome } from '../../graphql/outcome.ts';
import { writeRuleAt } from '../../../engine/settle/write-rules.ts';
import type { WriteRule } from '../../../upstream/write-guard.ts';

/**
 * The first request reads before it sends, and once more if the response is lost. A later one reads, sends again, and reads after a lost
 * response, or if the service says that the write is done.
 */
const moreCallsOf = ({ reads: [before, find] }: Pick<WriteRule, 'reads'>): number => Math.max(before + find, 2 * find);

/** The outcome of `x-explain: plan` with the calls that a key adds. */
export function withKeyPrice(outcome: Outcome): Outcome {
  const result = outcome.result as ExecutionResult;
  const planned = result.extensions?.upstream as CallCost | undefined;
  if (!planned?.fields) return outcome;
  const cost = structuredClone(planned);
  for (const field of cost.fields) {
    const found = writeRuleAt(field.endpoint);
    if (!found) continue;
    const more = field.max * moreCallsOf(found.rule);
    field.max += more;
    cost.max += more;
    cost.services[found.endpoint.service]!.max += more;
  }
  return { ...outcome, result: { ...result, extensions: { ...result.extensions, upstream: cost } } };
}
