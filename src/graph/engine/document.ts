/** What a document says of itself, beside what it selects: directives, variables, conditions. */
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
} from 'graphql';

export type Variables = Readonly<Record<string, unknown>>;

/** Whether a fragment on this type is one on that. */
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

/**
 * Whether an answer to the document may come in pieces. Its text would not tell: between the `@` and the name there may be blanks,
 * commas and comments.
 */
export function isIncremental(document: DocumentNode): boolean {
  let found = false;
  visitSelections(document, ({ directives }) => (found ||= directives?.some(isIncrementalDirective) ?? false));
  return found;
}

export const isIncrementalDirective = ({ name }: DirectiveNode): boolean =>
  name.value === 'defer' || name.value === 'stream';

/** Whether a list of the document may come in pieces. */
export function usesStream(document: DocumentNode): boolean {
  let found = false;
  visitSelections(
    document,
    ({ directives }) => (found ||= directives?.some(({ name }) => name.value === 'stream') ?? false),
  );
  return found;
}

/** Visits every selection of a document, including those of its fragments. */
export function visitSelections(document: DocumentNode, visit: (selection: SelectionNode) => void): void {
  const walk = ({ selections }: SelectionSetNode) => {
    for (const selection of selections) {
      visit(selection);
      if ('selectionSet' in selection && selection.selectionSet) walk(selection.selectionSet);
    }
  };
  for (const definition of document.definitions) if ('selectionSet' in definition) walk(definition.selectionSet);
}

/** Whether a field's arguments take a variable. */
export const hasVariables = (node: FieldNode): boolean =>
  node.arguments?.some(({ value }) => hasVariable(value)) ?? false;

export function hasVariable(value: ValueNode): boolean {
  if (value.kind === 'ListValue') return value.values.some(hasVariable);
  if (value.kind === 'ObjectValue') return value.fields.some((field) => hasVariable(field.value));
  return value.kind === 'Variable';
}
