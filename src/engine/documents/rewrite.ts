/** An operation with fields that are changed or left out. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fragments of a document by their names. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])));

export const keyOfField = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** Null leaves a field out. `path`: the response keys from the root, joined by dots. */
export type ChangeField = (path: string, field: FieldNode) => FieldNode | null;

/**
 * The operation after the changes, without the variables that nothing uses any more; undefined if nothing is left. Fragments are put in the
 * place of their spreads: a field of a fragment may be changed in one place only.
 */
export function rewriteOperation(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  change: ChangeField,
): DocumentNode | undefined {
  const selections = rewritten(operation.selectionSet, '', fragments, change);
  if (selections.length === 0) return undefined;
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections };
  const used = new Set<string>();
  const body = { ...operation, selectionSet, variableDefinitions: [] };
  visit(body, { Variable: ({ name }) => void used.add(name.value) });
  const { variableDefinitions: all = [] } = operation;
  const variableDefinitions = all.filter(({ variable }) => used.has(variable.name.value));
  return { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet, variableDefinitions }] };
}

export const typeName: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

function rewritten(
  { selections }: SelectionSetNode,
  parent: string,
  fragments: Fragments,
  change: ChangeField,
): SelectionNode[] {
  return selections.flatMap((selection): SelectionNode[] => {
    const { directives = [] } = selection;
    if (selection.kind === Kind.FIELD) {
      const key = keyOfField(selection);
      const path = parent === '' ? key : `${parent}.${key}`;
      const field = change(path, selection);
      if (!field?.selectionSet) return field ? [field] : [];
      const below = rewritten(field.selectionSet, path, fragments, change);
      // Whether the object is there is still asked for.
      const selectionSet: SelectionSetNode = {
        kind: Kind.SELECTION_SET,
        selections: below.length > 0 ? below : [typeName],
      };
      return [{ ...field, selectionSet }];
    }
    const { typeCondition, selectionSet } =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value)! : selection;
    const below = rewritten(selectionSet, parent, fragments, change);
    if (below.length === 0) return [];
    const inside: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: below };
    return [{ kind: Kind.INLINE_FRAGMENT, ...(typeCondition && { typeCondition }), directives, selectionSet: inside }];
  });
}
