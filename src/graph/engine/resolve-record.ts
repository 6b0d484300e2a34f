/** Resolves records that a field returns: loads the selected fields that they do not provide. */
import { getNullableType, isListType } from 'graphql';
import { type Representation, isProvided } from '../../api/endpoint.ts';
import { asError, isPromise } from '../../lib/promises.ts';
import { isUpstreamField } from '../../upstream/loading/record-state.ts';
import type { ParentRecord, Resolution } from './field-call.ts';
import type { TypeRule } from './field-rule.ts';
import { loadMissing } from './load-record.ts';
import { namesOrId } from './plan-load.ts';
import type { PlannedField } from './operation-plan.ts';

/**
 * Passes on one record or a list of records, loading the selected fields that are missing. `isListed`: the records were returned by a call
 * of their own, so each provides what its representation says, whatever it contains.
 */
export function resolveRecords(
  value: unknown,
  resolution: Resolution,
  representation: Representation,
  isListed: boolean,
): unknown {
  const { plan } = resolution;
  if (value === null || value === undefined) return null;
  if (plan.onlySelection && !plan.onlySelection.rule.record) return value; // such objects cannot be loaded
  if (!Array.isArray(value)) return resolveRecord(value as ParentRecord, resolution, representation, isListed);
  if (!isListType(getNullableType(plan.field.type))) return null; // an array instead of a record
  let isPending = false;
  // An error becomes an item. Thrown, it would lose the items that are still loading.
  const items = value.map((item: ParentRecord | null) => {
    if (item === null) return null;
    try {
      const record = resolveRecord(item, resolution, representation, isListed || !isRootNode(plan));
      if (!isPromise(record)) return record;
      isPending = true;
      return record.catch(asError);
    } catch (error) {
      return asError(error);
    }
  });
  // One promise for the list: executors then report each error at its own item.
  return isPending ? Promise.all(items) : items;
}

function resolveRecord(
  record: ParentRecord,
  resolution: Resolution,
  representation: Representation,
  isListed: boolean,
): unknown {
  if (record instanceof Error) return record;
  const { plan } = resolution;
  const selection = plan.onlySelection ?? plan.selections.get(record.__typename as string);
  if (!selection?.rule.record) return record;
  if (typeof record !== 'object') return null;
  // A client may make up an id, so `node` has to check that the record exists.
  if (isRootNode(plan) && !selection.rule.isReference)
    return loadMissing(record, selection, namesOrId(selection), 'named', resolution);
  // A field with a representation takes a reference as its response has it: nothing is loaded.
  const isCarried = selection.rule.isReference === true && plan.rule.representation !== undefined;
  let provided: Representation | undefined;
  let missing: string[] | undefined;
  for (const name of selection.names) {
    if (name in record || hasAlternative(record, selection.rule, name)) continue;
    // A name that no endpoint returns stays empty.
    if (selection.rule.isReference && !isUpstreamField(selection.rule.record, name)) continue;
    provided ??= isListed || isCarried || !isBareId(record) ? representation : providesNothing;
    if (!isProvided(provided, name)) (missing ??= []).push(name);
  }
  if (!missing) return record;
  const isShown = provided === representation && representation.names.length > 0;
  return loadMissing(record, selection, missing, isShown ? 'shown' : 'referred', resolution);
}

const hasAlternative = (record: ParentRecord, { alternativeNames }: TypeRule, name: string): boolean =>
  alternativeNames?.[name] !== undefined && alternativeNames[name] in record;

const providesNothing: Representation = { names: [] };
const ROOT_NODES = ['node', 'nodes'];
const isRootNode = ({ parent, field }: PlannedField): boolean => parent === 'Query' && ROOT_NODES.includes(field.name);

function isBareId(record: ParentRecord): boolean {
  for (const name in record) if (name !== 'id' && name !== '__typename') return false;
  return true;
}
