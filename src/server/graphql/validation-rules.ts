/** What a document must keep to: the rules of the specification, those for incremental delivery among them. */
import {
  type ASTVisitor,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  getDirectiveValues,
  getNullableType,
  isListType,
  print,
  specifiedRules,
} from 'graphql';
import { type Variables, isIncrementalDirective } from '../../graph/engine/document.ts';

/** The rules for a document: more of them where its answer may come in pieces. */
export function validationRules({
  introspection,
}: {
  introspection: boolean;
}): (comesInPieces: boolean) => readonly ValidationRule[] {
  const plain = [...specifiedRules, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const all = [...plain, PieceLabelRule, PieceOfRootRule, StreamedListRule, StreamedAlikeRule];
  return (comesInPieces) => (comesInPieces ? all : plain);
}

/** The selections of an operation and of the fragments it spreads whose part of the answer may come later. */
export function findIncrementalSelections(
  { definitions }: DocumentNode,
  { selectionSet }: OperationDefinitionNode | FragmentDefinitionNode,
): readonly SelectionNode[] {
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition.selectionSet);
  const pieces: SelectionNode[] = [];
  const seen = new Set<SelectionSetNode>();
  walk(selectionSet);
  return pieces;

  function walk(set: SelectionSetNode): void {
    if (seen.has(set)) return;
    seen.add(set);
    for (const selection of set.selections) {
      if (selection.directives?.some(isIncrementalDirective)) pieces.push(selection);
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const below = isSpread ? fragments.get(selection.name.value) : selection.selectionSet;
      if (below) walk(below);
    }
  }
}

/** Throws a GraphQLError where they say what cannot be: before the run, for a write would have been carried out by then. */
export function checkIncrementalArguments(
  schema: GraphQLSchema,
  pieces: readonly SelectionNode[],
  variables: Variables,
): void {
  for (const piece of pieces) {
    getDirectiveValues(schema.getDirective('defer')!, piece, variables);
    const stream = getDirectiveValues(schema.getDirective('stream')!, piece, variables);
    if (stream && !(typeof stream.initialCount === 'number' && stream.initialCount >= 0))
      throw new GraphQLError('`initialCount` of `@stream` must be 0 or more.', { nodes: piece.directives ?? null });
  }
}

/** A label names its piece in the answer, so it stands in the document, and once. */
function PieceLabelRule(context: ValidationContext): ASTVisitor {
  const labels = new Map<string, DirectiveNode>();
  return {
    Directive(node) {
      const label = isIncrementalDirective(node) && node.arguments?.find(({ name }) => name.value === 'label')?.value;
      if (!label) return;
      if (label.kind !== Kind.STRING)
        return report(context, `The label of @${node.name.value} must be written as a string.`, node);
      const other = labels.get(label.value);
      if (other) report(context, `The label "${label.value}" names two pieces.`, other, node);
      else labels.set(label.value, node);
    },
  };
}

/** A write, and a subscription, is answered whole. */
function PieceOfRootRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      const parent = context.getParentType();
      const schema = context.getSchema();
      if (!parent || !isIncrementalDirective(node)) return;
      if (parent === schema.getMutationType() || parent === schema.getSubscriptionType())
        report(context, `@${node.name.value} cannot be used on the root type ${parent.name}.`, node);
    },
  };
}

function StreamedListRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      const field = context.getFieldDef();
      if (!field || node.name.value !== 'stream' || isListType(getNullableType(field.type))) return;
      report(context, `@stream cannot be used on the field ${field.name}, which is no list.`, node);
    },
  };
}

const report = (context: ValidationContext, message: string, ...nodes: DirectiveNode[]): void =>
  context.reportError(new GraphQLError(message, { nodes }));

/**
 * Fields that are one in the answer are streamed alike. Seen within a selection and its inline fragments; of those that meet through
 * named ones the first decides.
 */
function StreamedAlikeRule(context: ValidationContext): ASTVisitor {
  return {
    SelectionSet(set, _key, parent) {
      if (parent && 'kind' in parent && parent.kind === Kind.INLINE_FRAGMENT) return;
      const first = new Map<string, FieldNode>();
      const told = new Set<string>();
      for (const field of fieldsOf(set)) {
        const name = field.alias?.value ?? field.name.value;
        const known = first.get(name);
        if (!known) first.set(name, field);
        else if (streamOf(known) !== streamOf(field) && !told.has(name)) {
          told.add(name);
          const message = `Fields "${name}" conflict because they have differing stream directives. Use different aliases on the fields to fetch both if this was intentional.`;
          context.reportError(new GraphQLError(message, { nodes: [known, field] }));
        }
      }
    },
  };
}

function* fieldsOf({ selections }: SelectionSetNode): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    else if (selection.kind === Kind.INLINE_FRAGMENT) yield* fieldsOf(selection.selectionSet);
  }
}

const isStream = ({ name }: DirectiveNode): boolean => name.value === 'stream';

/** The stream directive as one text, its arguments in order; undefined without one. */
function streamOf({ directives = [] }: FieldNode): string | undefined {
  const stream = directives.find(isStream);
  return stream && (stream.arguments ?? []).map(print).sort().join();
}
