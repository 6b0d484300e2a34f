/** What clients take out of a document before they send it. */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** Directives for the cache of Apollo Client. Those for the cache of urql begin with `_`. */
const CACHE: ReadonlySet<string> = new Set(['connection', 'nonreactive', 'unmask']);
/** What has it is taken out. */
const LOCAL = 'client';

type Directed = { readonly directives?: readonly DirectiveNode[] | undefined };
type Definition = OperationDefinitionNode | FragmentDefinitionNode;

/**
 * The document as clients send it: without directives for their cache and without local fields, and then without the fragments and
 * variables that nothing uses any more. Undefined if nothing is left to send.
 */
export function asSent(document: DocumentNode): DocumentNode | undefined {
  const emptied = new Set<string>();
  const originals = new Map<string, FragmentDefinitionNode>();
  const withoutLocal = (node: Directed) =>
    node.directives?.some(({ name }) => name.value === LOCAL) ? null : undefined;
  const cut: DocumentNode = visit(document, {
    Field: { enter: withoutLocal },
    InlineFragment: { enter: withoutLocal },
    FragmentSpread: { enter: withoutLocal },
    Directive: ({ name: { value } }) => (CACHE.has(value) || value.startsWith('_') ? null : undefined),
    SelectionSet: { leave: neverEmpty },
    FragmentDefinition: {
      enter: (node) => void originals.set(node.name.value, node),
      leave(node) {
        if (node === originals.get(node.name.value) || !hasOnlyTypename(node)) return undefined;
        emptied.add(node.name.value);
        return null;
      },
    },
  });
  return cut === document ? document : withoutUnused(cut, emptied);
}

const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/** Clients select `__typename` everywhere below the operation, so that no selection becomes empty. */
function neverEmpty(set: SelectionSetNode, _: unknown, parent: unknown): SelectionSetNode | undefined {
  const isRoot = (parent as { kind?: string }).kind === Kind.OPERATION_DEFINITION;
  return isRoot || set.selections.length > 0 ? undefined : { ...set, selections: [typename] };
}

const hasOnlyTypename = ({ selectionSet }: FragmentDefinitionNode): boolean =>
  selectionSet.selections.every((each) => each.kind === Kind.FIELD && each.name.value === '__typename');

function withoutUnused(document: DocumentNode, emptied: ReadonlySet<string>): DocumentNode | undefined {
  const pruned: DocumentNode = visit(document, {
    FragmentSpread: ({ name }) => (emptied.has(name.value) ? null : undefined),
    SelectionSet: { leave: neverEmpty },
  });
  const all = pruned.definitions as readonly Definition[];
  const fragments = new Map(all.flatMap((each) => (isFragment(each) ? [[each.name.value, each] as const] : [])));
  const used = new Set<string>();
  const operations = all.flatMap((each): OperationDefinitionNode[] => {
    if (isFragment(each) || each.selectionSet.selections.length === 0) return [];
    const { spreads, variables } = reachedFrom(each, fragments);
    for (const name of spreads) used.add(name);
    const { variableDefinitions = [] } = each;
    return [
      {
        ...each,
        variableDefinitions: variableDefinitions.filter(({ variable }) => variables.has(variable.name.value)),
      },
    ];
  });
  if (operations.length === 0) return undefined;
  const kept = all.filter((each) => isFragment(each) && used.has(each.name.value));
  return { ...pruned, definitions: [...operations, ...kept] };
}

const isFragment = (node: Definition): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION;

/** The fragments and variables that an operation uses, also by its fragments. */
function reachedFrom(operation: OperationDefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const spreads = new Set<string>();
  const variables = new Set<string>();
  const add = (definition: Definition): void => {
    visit(definition, {
      VariableDefinition: () => false,
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread({ name: { value } }) {
        if (spreads.has(value)) return;
        spreads.add(value);
        const fragment = fragments.get(value);
        if (fragment) add(fragment);
      },
    });
  };
  add(operation);
  return { spreads, variables };
}
