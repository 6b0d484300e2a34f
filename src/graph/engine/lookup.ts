/** Which names to request of a record, so that the response also shows whether it exists. */
import { isUpstreamField, keyFieldsOf } from '../../upstream/loading/record-state.ts';
import { insert } from '../../upstream/http/request.ts';
import type { SelectionPlan } from './operation-plan.ts';

const ID: readonly string[] = Object.freeze(['id']);

/** The names of a record that the client named: its id if nothing of it is selected. */
export const namesOrId = ({ names }: SelectionPlan): readonly string[] => (names.length > 0 ? names : ID);

/**
 * The names to request. Names that the tier does not get are left out, and so is the id of a record that upstream named, because it would
 * show nothing new. A record that the client named is requested with its id if no other name can be requested.
 */
export function namesToRequest(
  missing: readonly string[],
  { tierRefused, rule }: SelectionPlan,
  isNamed: boolean,
): readonly string[] {
  const takesId = isNamed || !keyFieldsOf(rule.record!).includes('id');
  const requested =
    (takesId || !missing.includes('id')) && tierRefused.size === 0
      ? missing
      : missing.filter((name) => (name !== 'id' || takesId) && !tierRefused.has(name));
  if (!isNamed || requested.some((name) => isUpstreamField(rule.record!, name))) return requested;
  const names = requested.slice();
  insert(names, 'id');
  return names;
}

/** The names to load first. If the initial result needs none of them, all are loaded, because they also show whether the record exists. */
export function namesLoadedFirst(
  missing: readonly string[],
  { names, initialNames }: SelectionPlan,
): readonly string[] {
  if (initialNames === names) return missing;
  const first = missing.filter((name) => initialNames.includes(name));
  return first.length > 0 ? first : missing;
}
