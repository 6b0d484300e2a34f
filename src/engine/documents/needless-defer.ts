/** Which `@defer`s gain nothing: no call is needed for the fields of the fragment alone, so they could come with the rest. */
import { type DirectiveNode, type DocumentNode, type InlineFragmentNode, Kind, getOperationAST, visit } from 'graphql';
import { deferDirective } from '../plan/incremental-directives.ts';
import type { WorstOf } from './hints.ts';
import { fragmentsOf, keyOfField, rewriteOperation, typeName } from './rewrite.ts';

/** Its names are public: they are those of `x-explain: plan`. */
export interface NeedlessDefer {
  /** Response keys from the root, joined by dots: the object of the fragment. */
  path: string;
  label?: string;
  /** The most upstream calls without this `@defer`. */
  calls: number;
}

/** The most that are judged: the first of the document. */
const JUDGED = 8;

interface Deferred {
  path: string;
  fragment: InlineFragmentNode;
  defer: DirectiveNode;
}

/** Empty if each has a call of its own. Fragments that only some values of variables defer are judged as deferred. */
export function needlessDefers(
  document: DocumentNode,
  operationName: string | undefined,
  worstOf: WorstOf,
): NeedlessDefer[] {
  const operation = getOperationAST(document, operationName);
  const inline = operation && rewriteOperation(operation, fragmentsOf(document), (_, field) => field);
  if (!inline) return [];
  const worstWith = (fragment: InlineFragmentNode, changes: Partial<InlineFragmentNode>) => {
    const made = visit(inline, { InlineFragment: (node) => (node === fragment ? { ...node, ...changes } : undefined) });
    return worstOf(made, getOperationAST(made, operationName)!).calls;
  };
  return deferredIn(inline)
    .slice(0, JUDGED)
    .flatMap(({ path, fragment, defer }) => {
      const directives = fragment.directives!.filter((each) => each !== defer);
      const atOnce = worstWith(fragment, { directives });
      const left = worstWith(fragment, { directives, selectionSet: onlyTypeName });
      if (atOnce.max > left.max || atOnce.likely > left.likely) return [];
      const label = defer.arguments!.find(({ name }) => name.value === 'label')?.value;
      return [{ path, ...(label?.kind === Kind.STRING && { label: label.value }), calls: atOnce.max }];
    });
}

const onlyTypeName = { kind: Kind.SELECTION_SET, selections: [typeName] } as const;

/** In the order of the document, the outer before the inner. */
function deferredIn(document: DocumentNode): Deferred[] {
  const found: Deferred[] = [];
  const at: string[] = [];
  visit(document, {
    Field: { enter: (node) => void at.push(keyOfField(node)), leave: () => void at.pop() },
    InlineFragment(fragment) {
      const defer = fragment.directives?.find(({ name }) => name.value === deferDirective.name);
      if (defer) found.push({ path: at.join('.'), fragment, defer });
    },
  });
  return found;
}
