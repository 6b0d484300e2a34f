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
  type ValueNode,
  getDirectiveValues,
  isAbstractType,
  visit,
} from 'graphql';
import { deferDirective, streamDirective } from './incremental-directives.ts';

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

/** The values of a @defer; undefined if there is none, or its condition is false. */
export function deferOf(selection: SelectionNode, variables: Variables): { label?: string } | undefined {
  const values = getDirectiveValues(deferDirective, selection, variables);
  return values?.if === true ? values : undefined;
}

/** The values of a @stream; undefined if there is none, or its condition is false. */
export function streamOf(
  field: FieldNode,
  variables: Variables,
): { initialCount: number; label: string | undefined } | undefined {
  const values = getDirectiveValues(streamDirective, field, variables);
  if (values?.if !== true) return undefined;
  return { initialCount: values.initialCount as number, label: values.label as string | undefined };
}

export const isStreamed = ({ directives }: FieldNode): boolean =>
  directives?.some(({ name }) => name.value === 'stream') ?? false;

/** The document without incremental delivery. */
export const withoutIncremental = (document: DocumentNode): DocumentNode =>
  visit(document, { Directive: (directive) => (isIncrementalDirective(directive) ? null : undefined) });

/**
 * Whether the document uses incremental delivery. The text is not searched: blanks, commas and comments may stand between the `@` and the
 * name.
 */
export const isIncremental = (document: DocumentNode): boolean => withoutIncremental(document) !== document;

export const isIncrementalDirective = ({ name }: DirectiveNode): boolean =>
  name.value === 'defer' || name.value === 'stream';

/** Whether the arguments of a field contain a variable. */
export const hasVariables = (node: FieldNode): boolean =>
  node.arguments?.some(({ value }) => hasVariable(value)) ?? false;

export function hasVariable(value: ValueNode): boolean {
  if (value.kind === 'ListValue') return value.values.some(hasVariable);
  if (value.kind === 'ObjectValue') return value.fields.some((field) => hasVariable(field.value));
  return value.kind === 'Variable';
}
