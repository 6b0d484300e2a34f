/** Whether the arguments of a field let an embedded member answer it. A plan depends on arguments in no other way. */
import type { PagingArgs } from '../types/paging.ts';
import type { Variables } from './document.ts';
import type { FieldRule } from './field-rule.ts';

export function argumentsAllowEmbedded(
  { embedded, pageSize }: FieldRule,
  args: (variables: Variables) => object,
  variables: Variables,
): boolean {
  if (!embedded) return false;
  let given: PagingArgs;
  try {
    given = args(variables);
  } catch {
    return false; // the executor reports the wrong arguments
  }
  if (embedded.when && !embedded.when(given as never)) return false;
  if (embedded.upTo !== undefined && (given.first ?? pageSize ?? 0) > embedded.upTo) return false;
  return given.after == null && !given.offset;
}
