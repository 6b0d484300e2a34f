/** Directives, conditions and variables of a document. */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  getDirectiveValues,
  isAbstractType,
  visit,
} from 'graphql';

export type Variables = Readonly<Record<string, unknown>>;

/** Whether a fragment with this type condition applies to the type. */
export function fragmentApplies(
  schema: GraphQLSchema,
  condition: string | undefined,
  type: GraphQLObjectType,
): boolean {
  if (!condition || condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}

export function isIncluded(selection: SelectionNode, variables: Variables): boolean {
  if (!selection.directives?.length) return true;
  const skip = getDirectiveValues(GraphQLSkipDirective, selection, variables);
  const include = getDirectiveValues(GraphQLIncludeDirective, selection, variables);
  return skip?.if !== true && include?.if !== false;
}

export function isDeferred(selection: SelectionNode, variables: Variables): boolean {
  const defer = selection.directives?.find(({ name }) => name.value === 'defer');
  if (!defer) return false;
  const condition = defer.arguments?.find(({ name }) => name.value === 'if')?.value;
  if (condition?.kind === 'Variable') return variables[condition.name.value] !== false;
  return !(condition?.kind === 'BooleanValue' && !condition.value);
}

/** The label of @defer, which no variable can give. */
export function labelOf({ directives }: SelectionNode): string | undefined {
  const defer = directives?.find(({ name }) => name.value === 'defer');
  const label = defer?.arguments?.find(({ name }) => name.value === 'label')?.value;
  return label?.kind === 'StringValue' ? label.value : undefined;
}

/** The document without incremental delivery. */
export const withoutIncremental = (document: DocumentNode): DocumentNode =>
  visit(document, { Directive: (directive) => (isIncrementalDirective(directive) ? null : undefined) });

/**
 * Whether the document uses incremental delivery. The text is not searched: blanks, commas and comments may stand between the `@` and the
 * name.
 */
export const isIncremental = (document: DocumentNode): boolean => usesDirective(document, isIncrementalDirective);

export const isIncrementalDirective = ({ name }: DirectiveNode): boolean =>
  name.value === 'defer' || name.value === 'stream';

export const usesStream = (document: DocumentNode): boolean =>
  usesDirective(document, ({ name }) => name.value === 'stream');

function usesDirective(document: DocumentNode, is: (directive: DirectiveNode) => boolean): boolean {
  let found = false;
  visitSelections(document, ({ directives }) => (found ||= directives?.some(is) ?? false));
  return found;
}

/** Visits every selection of a document, fragments included. */
export function visitSelections(document: DocumentNode, visit: (selection: SelectionNode) => void): void {
  const walk = ({ selections }: SelectionSetNode) => {
    for (const selection of selections) {
      visit(selection);
      if ('selectionSet' in selection && selection.selectionSet) walk(selection.selectionSet);
    }
  };
  for (const definition of document.definitions) if ('selectionSet' in definition) walk(definition.selectionSet);
}

/** Whether the arguments of a field contain a variable. */
export const hasVariables = (node: FieldNode): boolean =>
  node.arguments?.some(({ value }) => hasVariable(value)) ?? false;

export function hasVariable(value: ValueNode): boolean {
  if (value.kind === 'ListValue') return value.values.some(hasVariable);
  if (value.kind === 'ObjectValue') return value.fields.some((field) => hasVariable(field.value));
  return value.kind === 'Variable';
}
