/** What a person would do after reading a hint, or a report of what is not read. */
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  getOperationAST,
  visit,
} from 'graphql';

export interface OperationChange {
  path: string;
  first?: number;
  without?: readonly string[];
}

/** The operation with its fragments in the place of their spreads, so that a field changes in one place alone. */
export function changedOperation(document: DocumentNode, { path, first, without = [] }: OperationChange): DocumentNode {
  const operation = getOperationAST(document)!;
  const fragments = new Map(
    document.definitions.flatMap((each) =>
      each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [],
    ),
  );
  const left = new Set(without.map((key) => (path === '' ? key : `${path}.${key}`)));
  const changed = ({ selections }: SelectionSetNode, parent: string): SelectionNode[] =>
    selections.flatMap((selection): SelectionNode[] => {
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const at = parent === '' ? key : `${parent}.${key}`;
        if (left.has(at)) return [];
        const field = first !== undefined && at === path ? withFirst(selection, first) : selection;
        if (!field.selectionSet) return [field];
        const below = changed(field.selectionSet, at);
        return [
          { ...field, selectionSet: { kind: Kind.SELECTION_SET, selections: below.length ? below : [typeName] } },
        ];
      }
      const part = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value)! : selection;
      const { typeCondition } = part;
      const below = changed(part.selectionSet, parent);
      if (below.length === 0) return [];
      return [
        {
          kind: Kind.INLINE_FRAGMENT,
          ...(typeCondition && { typeCondition }),
          directives: selection.directives ?? [],
          selectionSet: { kind: Kind.SELECTION_SET, selections: below },
        },
      ];
    });
  const rest = changed(operation.selectionSet, '');
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: rest.length ? rest : [typeName] };
  const used = new Set<string>();
  visit(selectionSet, { Variable: ({ name }) => void used.add(name.value) });
  const variableDefinitions = (operation.variableDefinitions ?? []).filter(({ variable }) =>
    used.has(variable.name.value),
  );
  return { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet, variableDefinitions }] };
}

/** In the place of fields of which none is left. */
export const typeName: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

const withFirst = (field: FieldNode, first: number): FieldNode => ({
  ...field,
  arguments: [
    ...(field.arguments ?? []).filter(({ name }) => name.value !== 'first'),
    {
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: 'first' },
      value: { kind: Kind.INT, value: String(first) },
    },
  ],
});
