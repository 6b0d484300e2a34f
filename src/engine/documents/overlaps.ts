/**
 * Estimates the cost of graphql-js's rule OverlappingFieldsCanBeMerged. The rule compares every pair of fields with one response key, so its
 * time is quadratic, and it prints the arguments again for every pair: 330 fields with one argument took 200 ms.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** Comparisons that validation would make, in units of one comparison of two plain fields. Counting stops past `most`. */
export function countComparisons(
  { definitions }: DocumentNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  most: number,
): number {
  const spread = new Set<string>();
  let comparisons = 0;
  // Operations first: a fragment is compared together with what spreads it, and alone only if nothing does.
  for (const definition of definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) inside([definition.selectionSet]);
  for (const [name, { selectionSet }] of fragments) if (!spread.has(name)) inside([selectionSet]);
  return comparisons;

  function inside(sets: readonly SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>();
    const seen = new Set<string>();
    for (const set of sets) collect(set, fields, seen);
    for (const same of fields.values()) {
      if (comparisons > most) return;
      const weight = same.reduce((sum, field) => sum + weightOf(field), 0);
      comparisons += (weight * (same.length - 1)) / 2;
      const below = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (below.length > 0) inside(below);
    }
  }

  function collect({ selections }: SelectionSetNode, fields: Map<string, FieldNode[]>, seen: Set<string>): void {
    for (const selection of selections) {
      comparisons += PASSED; // ends the walk of cyclic fragments, which validation rejects later
      if (comparisons > most) return;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const same = fields.get(key);
        if (same) same.push(selection);
        else fields.set(key, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, fields, seen);
      else if (!seen.has(selection.name.value)) {
        const { value: name } = selection.name;
        seen.add(name);
        spread.add(name);
        const fragment = fragments.get(name);
        if (fragment) collect(fragment.selectionSet, fields, seen);
      }
    }
  }
}

/** Measured, in plain comparisons: one visited selection, a selection set, and one argument value, each for two fields. */
const PASSED = 5;
const SELECTION_SET = 15;
const ARGUMENT_VALUE = 25;

const weightOf = ({ selectionSet, arguments: given = [] }: FieldNode): number =>
  1 + (selectionSet ? SELECTION_SET : 0) + given.reduce((sum, { value }) => sum + ARGUMENT_VALUE * valuesIn(value), 0);

function valuesIn(value: ValueNode): number {
  if (value.kind === Kind.LIST) return value.values.reduce((sum, each) => sum + valuesIn(each), 1);
  if (value.kind === Kind.OBJECT) return value.fields.reduce((sum, field) => sum + valuesIn(field.value), 1);
  return 1;
}
