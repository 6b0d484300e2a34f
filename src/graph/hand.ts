/** Whether the arguments of a field allow to answer it from the parent's record: the only thing that a plan takes from them. */
import type { FieldRule } from './ask.ts';
import type { Variables } from './document.ts';
import type { PagingArgs } from './paging.ts';

export function argumentsAllowHand(
  { hand, first: byDefault }: FieldRule,
  args: (variables: Variables) => object,
  variables: Variables,
): boolean {
  if (!hand) return false;
  let given: PagingArgs;
  try {
    given = args(variables);
  } catch {
    return false; // the executor will say what is wrong with them
  }
  if (hand.when && !hand.when(given as never)) return false;
  if (hand.upTo !== undefined && (given.first ?? byDefault ?? 0) > hand.upTo) return false;
  return given.after == null && !given.offset;
}
