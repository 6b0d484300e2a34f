/** What a mutation may cost with a key: reads before it is sent and after its response was lost, and a second sending. */
import type { ExecutionResult } from 'graphql';
import type { CallCost } from '../../graph/cost/call-cost.ts';
import type { Outcome } from '../graphql/outcome.ts';
import { writeRuleAt } from './rules/write-rules.ts';
import type { WriteRule } from './rules/rule.ts';
import { LOOKS_MAX } from './settle.ts';

/** It is sent twice at most, and looked for after each time, and once more if the service says that it is done. */
function moreCallsOf({ reads: [before, find], isHidden }: Pick<WriteRule, 'reads' | 'isHidden'>): number {
  return isHidden ? before : before + 1 + (2 * LOOKS_MAX + 1) * find;
}

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
    cost.services[found.service].max += more;
  }
  return { ...outcome, result: { ...result, extensions: { ...result.extensions, upstream: cost } } };
}
