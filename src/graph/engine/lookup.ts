/** What a record is asked for, so that the answer also shows whether there is such a record. */
import { isUpstreamField } from '../../upstream/loading/record-state.ts';
import { insert } from '../../upstream/http/request.ts';
import type { SelectionPlan } from './operation-plan.ts';

const ID: readonly string[] = Object.freeze(['id']);

/** What a record that the caller named is asked for: its id where nothing of it is selected. */
export const namesOrId = ({ names }: SelectionPlan): readonly string[] => (names.length > 0 ? names : ID);

/**
 * The names to ask for. Not what the tier is refused; nor the id of a record that upstream named, which shows nothing but that there is
 * one. A record that the caller named is asked for its id where all other names are refused, or are no members of the record.
 */
export function namesToRequest(
  missing: readonly string[],
  { tierRefused, rule }: SelectionPlan,
  isNamed: boolean,
): readonly string[] {
  const asked =
    (isNamed || !missing.includes('id')) && tierRefused.size === 0
      ? missing
      : missing.filter((name) => (name !== 'id' || isNamed) && !tierRefused.has(name));
  if (!isNamed || asked.some((name) => isUpstreamField(rule.record!, name))) return asked;
  const names = asked.slice();
  insert(names, 'id');
  return names;
}

/** The names that are loaded first: all of them where the first part of the answer shows none, because they then show the existence. */
export function namesLoadedFirst(
  missing: readonly string[],
  { names, initialNames }: SelectionPlan,
): readonly string[] {
  if (initialNames === names) return missing;
  const first = missing.filter((name) => initialNames.includes(name));
  return first.length > 0 ? first : missing;
}
