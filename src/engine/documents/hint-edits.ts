/** A hint as changes of the text of a document, which keep the rest as it is written. */
import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  getOperationAST,
  parse,
  visit,
} from 'graphql';
import type { Hint } from './hints.ts';
import { fragmentsOf, keyOfField } from './rewrite.ts';

/** `text` in the place of what is from `start` to `end`, by characters of the document. */
export interface TextEdit {
  start: number;
  end: number;
  text: string;
}

type Change = Pick<Hint, 'path' | 'first' | 'without'>;

/**
 * The edits in order; empty if the document has no such field. Fragments and variables that are then used no more are removed too. A field
 * of a fragment changes in all places where the fragment is spread.
 */
export function editsOfHint(text: string, change: Change, operationName?: string): TextEdit[] {
  const document = parse(text);
  const { first, without = [], path } = change;
  const at = placesOf(document, operationName);
  if (first !== undefined) {
    const edits = [...new Set(at.get(path))].map((field) => withFirst(field, first));
    return edits.length > 0 ? inOrder([...edits, ...unused(document, text, edits)]) : [];
  }
  const removed = new Set(without.flatMap((key) => at.get(path === '' ? key : `${path}.${key}`) ?? []));
  const edits = removed.size > 0 ? removals(document, text, removed) : [];
  return edits.length > 0 ? inOrder([...edits, ...unused(document, text, edits)]) : [];
}

/** The text with edits that are in order. */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  let end = 0;
  const parts = edits.flatMap((edit) => {
    const before = text.slice(end, edit.start);
    end = edit.end;
    return [before, edit.text];
  });
  return parts.join('') + text.slice(end);
}

const inOrder = (edits: readonly TextEdit[]): TextEdit[] => edits.toSorted((a, b) => a.start - b.start);

/** The fields of an operation by their response keys from the root, joined by dots, in the order of the document. */
export function placesOf(document: DocumentNode, operationName?: string): Map<string, FieldNode[]> {
  const places = new Map<string, FieldNode[]>();
  const operation = getOperationAST(document, operationName);
  const fragments = fragmentsOf(document);
  const read = ({ selections }: SelectionSetNode, parent: string, within: readonly string[]): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const path = parent === '' ? keyOfField(selection) : `${parent}.${keyOfField(selection)}`;
        places.set(path, [...(places.get(path) ?? []), selection]);
        if (selection.selectionSet) read(selection.selectionSet, path, within);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) read(selection.selectionSet, parent, within);
      else {
        const name = selection.name.value;
        const spread = fragments.get(name);
        if (spread && !within.includes(name)) read(spread.selectionSet, parent, [...within, name]);
      }
    }
  };
  if (operation) read(operation.selectionSet, '', []);
  return places;
}

const rangeOf = ({ loc }: ASTNode): { start: number; end: number } => ({ start: loc!.start, end: loc!.end });

function withFirst({ name, arguments: given = [] }: FieldNode, first: number): TextEdit {
  const argument = given.find((each) => each.name.value === 'first');
  if (argument) return { ...rangeOf(argument.value), text: String(first) };
  const [next] = given;
  if (next) return { start: next.loc!.start, end: next.loc!.start, text: `first: ${first}, ` };
  return { start: name.loc!.end, end: name.loc!.end, text: `(first: ${first})` };
}

/** Removes fields; a selection that has none left gets `__typename`. */
function removals(document: DocumentNode, text: string, removed: ReadonlySet<SelectionNode>): TextEdit[] {
  const edits: TextEdit[] = [];
  visit(document, {
    SelectionSet: ({ selections }) => {
      const left = selections.filter((each) => removed.has(each));
      const isEmptied = left.length === selections.length;
      for (const [at, each] of left.entries())
        edits.push(isEmptied && at === 0 ? { ...rangeOf(each), text: '__typename' } : lineOf(text, each));
    },
    // Nothing below a removed field is edited.
    Field: { enter: (node) => (removed.has(node) ? false : undefined) },
  });
  return edits;
}

/** Removes a node with its line if nothing else is on it, else with the separators behind it. */
function lineOf(text: string, node: ASTNode): TextEdit {
  const { start, end } = rangeOf(node);
  const before = /(?:^|\n)[ \t]*$/.exec(text.slice(0, start));
  const after = /^[ \t,]*(?:\r?\n|$)/.exec(text.slice(end));
  if (before && after)
    return { start: start - before[0].replace(/^\n/, '').length, end: end + after[0].length, text: '' };
  return { start, end: end + /^[ \t,]*/.exec(text.slice(end))![0].length, text: '' };
}

/** Removes the fragments and variables that only what is edited away has used. */
function unused(document: DocumentNode, text: string, edits: readonly TextEdit[]): TextEdit[] {
  const isGone = ({ loc }: ASTNode): boolean =>
    edits.some(({ start, end }) => start < end && loc!.start >= start && loc!.end <= end);
  const fragments = fragmentsOf(document);
  const [before, after] = [undefined, isGone].map((gone) => {
    const names = new Set<string>();
    const variables = new Map<ASTNode, Set<string>>();
    for (const operation of document.definitions) {
      if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
      const used = new Set<string>();
      const reached = new Set<string>();
      const read = (node: ASTNode): void =>
        void visit(node, {
          enter: (each) => {
            if (gone?.(each)) return false;
            if (each.kind === Kind.VARIABLE) used.add(each.name.value);
            if (each.kind === Kind.FRAGMENT_SPREAD) follow(each.name.value);
            return undefined;
          },
        });
      const follow = (name: string): void => {
        const spread = fragments.get(name);
        if (!spread || reached.has(name)) return;
        reached.add(name);
        read(spread);
      };
      for (const each of [operation.selectionSet, ...(operation.directives ?? [])]) read(each);
      variables.set(operation, used);
      for (const name of reached) names.add(name);
    }
    return { names, variables };
  });
  return document.definitions.flatMap((each) => {
    if (each.kind === Kind.FRAGMENT_DEFINITION) {
      const isUnused = before!.names.has(each.name.value) && !after!.names.has(each.name.value);
      return isUnused ? [lineOf(text, each)] : [];
    }
    if (each.kind !== Kind.OPERATION_DEFINITION) return [];
    const { variableDefinitions = [] } = each;
    const isUsed = (used: Map<ASTNode, Set<string>>, name: string) => used.get(each)!.has(name);
    const lost = variableDefinitions.filter(
      ({ variable: { name } }) => isUsed(before!.variables, name.value) && !isUsed(after!.variables, name.value),
    );
    if (lost.length < variableDefinitions.length || lost.length === 0) return lost.map((node) => lineOf(text, node));
    // The parentheses go with the last variable.
    const open = text.lastIndexOf('(', variableDefinitions[0]!.loc!.start);
    return [{ start: open, end: text.indexOf(')', variableDefinitions.at(-1)!.loc!.end) + 1, text: '' }];
  });
}
