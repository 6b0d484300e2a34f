/** The validation rules of documents: those of the specification, and those for incremental delivery. */
import {
  type ASTVisitor,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  FieldsOnCorrectTypeRule,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  print,
  separateOperations,
  specifiedRules,
  visit,
} from 'graphql';
import type { Config } from '../../config/settings.ts';
import { type Variables, isIncrementalDirective } from '../plan/document.ts';
import { typeRule } from '../plan/read-declarations.ts';
import { deferDirective, streamDirective } from '../plan/incremental-directives.ts';

/**
 * What a schema has instead of fields that people ask for, by type and name: fields, or a sentence that says why there is none. In
 * `extensions.expectedFields` of the schema.
 */
type ExpectedFields = Readonly<Record<string, Readonly<Record<string, readonly string[] | string>>>>;

/** The rules of the specification whose errors say more. */
const EXPLAINED = new Map<ValidationRule, ValidationRule>([
  [FieldsOnCorrectTypeRule, explained(FieldsOnCorrectTypeRule, withExpectedField)],
  [ValuesOfCorrectTypeRule, explained(ValuesOfCorrectTypeRule, withArgument)],
]);

/** The rule with other errors. */
function explained(
  rule: ValidationRule,
  explain: (error: GraphQLError, context: ValidationContext) => GraphQLError,
): ValidationRule {
  return (context) => {
    const reportError = (error: GraphQLError) => context.reportError(explain(error, context));
    return rule(Object.create(context, { reportError: { value: reportError } }) as ValidationContext);
  };
}

/** Says what to select instead of a field that a type does not have. */
function withExpectedField(error: GraphQLError, context: ValidationContext): GraphQLError {
  const type = context.getParentType();
  const node = error.nodes?.[0];
  if (!type || node?.kind !== Kind.FIELD || context.hideSuggestions) return error;
  const name = node.name.value;
  const schema = context.getSchema();
  const instead = (schema.extensions.expectedFields as ExpectedFields | undefined)?.[type.name]?.[name];
  const advice =
    typeof instead === 'string'
      ? instead
      : instead
        ? `Did you mean ${instead.map((field) => `"${field}"`).join(' or ')}?`
        : adviceOfWrapper(type, name, schema);
  const message = `Cannot query field "${name}" on type "${type.name}".`;
  return advice === undefined ? error : new GraphQLError(`${message} ${advice}`, { nodes: error.nodes ?? null });
}

/** What only holds other things, a page of a list, an edge, a chart or a payload: the field of its content that has the name. */
function adviceOfWrapper(type: GraphQLCompositeType, name: string, schema: GraphQLSchema): string | undefined {
  if (!isObjectType(type) || !(typeRule(type).isWrapper || isPayload(type, schema))) return undefined;
  const holder = Object.values(type.getFields()).find((field) => {
    const held = getNamedType(field.type);
    return isObjectType(held) && !typeRule(held).isWrapper && held.getFields()[name] !== undefined;
  });
  if (!holder) return undefined;
  const owner = isListType(getNullableType(holder.type)) ? 'Its items have' : `Its ${holder.name} has`;
  return `${owner} it: select \`${holder.name} { ${name} }\`.`;
}

const isPayload = (type: GraphQLObjectType, schema: GraphQLSchema): boolean =>
  Object.values(schema.getMutationType()?.getFields() ?? {}).some((field) => getNamedType(field.type) === type);

/** Names the argument that has an invalid value. */
function withArgument(error: GraphQLError, context: ValidationContext): GraphQLError {
  const [argument, type, field] = [context.getArgument(), context.getParentType(), context.getFieldDef()];
  if (argument && type && field && !context.getDirective())
    Object.assign(error.extensions, { argument: argument.name, coordinate: `${type.name}.${field.name}` });
  return error;
}

/** Returns the rules for a document; documents that use incremental delivery have more. */
export function validationRules({ introspection }: Pick<Config, 'introspection'>) {
  const plain = [
    ...specifiedRules.map((rule) => EXPLAINED.get(rule) ?? rule),
    ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
  ];
  const all = [...plain, IncrementalDirectivesRule, SameStreamRule];
  return (isIncremental: boolean): readonly ValidationRule[] => (isIncremental ? all : plain);
}

/** The selections with @defer or @stream in an operation and in the fragments that it spreads. */
export function findIncrementalSelections(document: DocumentNode, { name }: OperationDefinitionNode): SelectionNode[] {
  const found: SelectionNode[] = [];
  const note = (selection: SelectionNode): void => {
    if (selection.directives?.some(isIncrementalDirective)) found.push(selection);
  };
  const own = separateOperations(document)[name?.value ?? '']!;
  visit(own, { Field: note, FragmentSpread: note, InlineFragment: note });
  return found;
}

/** Throws a GraphQLError for invalid arguments of @defer and @stream. They are checked before the run, because a mutation cannot be undone. */
export function checkIncrementalArguments(selections: readonly SelectionNode[], variables: Variables): void {
  for (const selection of selections) {
    getDirectiveValues(deferDirective, selection, variables);
    const stream = getDirectiveValues(streamDirective, selection, variables);
    if (stream && !(typeof stream.initialCount === 'number' && stream.initialCount >= 0))
      throw new GraphQLError('`initialCount` of `@stream` must be 0 or more.', { nodes: selection.directives ?? null });
  }
}

/** Where @defer and @stream may stand. A label identifies a part of the response, so it must be a literal and unique. */
function IncrementalDirectivesRule(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema();
  const labels = new Map<string, DirectiveNode>();
  const report = (message: string, ...nodes: DirectiveNode[]): void =>
    context.reportError(new GraphQLError(message, { nodes }));
  return {
    Directive(node) {
      if (!isIncrementalDirective(node)) return;
      const { value: name } = node.name;
      const parent = context.getParentType();
      if (parent && (parent === schema.getMutationType() || parent === schema.getSubscriptionType()))
        report(`@${name} cannot be used on the root type ${parent.name}.`, node);
      const field = context.getFieldDef();
      if (field && name === 'stream' && !isListType(getNullableType(field.type)))
        report(`@stream cannot be used on the field ${field.name}, which is not a list.`, node);
      const label = node.arguments?.find((each) => each.name.value === 'label')?.value;
      if (!label) return;
      if (label.kind !== Kind.STRING) return report(`The label of @${name} must be written as a string.`, node);
      const other = labels.get(label.value);
      if (other) report(`The label "${label.value}" is used twice.`, other, node);
      else labels.set(label.value, node);
    },
  };
}

/**
 * Fields that are merged in the response must have the same @stream. The rule compares fields of a selection set and its inline
 * fragments. For fields merged through named fragments, the executor uses the first.
 */
function SameStreamRule(context: ValidationContext): ASTVisitor {
  return {
    SelectionSet(set, _key, parent) {
      if (parent && 'kind' in parent && parent.kind === Kind.INLINE_FRAGMENT) return;
      const first = new Map<string, FieldNode>();
      const reported = new Set<string>();
      for (const field of fieldsOf(set)) {
        const name = field.alias?.value ?? field.name.value;
        const known = first.get(name);
        if (!known) first.set(name, field);
        else if (streamOf(known) !== streamOf(field) && !reported.has(name)) {
          reported.add(name);
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

/** The arguments of @stream as one text, sorted; undefined without the directive. */
function streamOf({ directives = [] }: FieldNode): string | undefined {
  const stream = directives.find(({ name }) => name.value === 'stream');
  return stream && (stream.arguments ?? []).map(print).sort().join();
}
