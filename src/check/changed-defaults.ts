/** Defaults that a document relies on and that differ between two schemas: of arguments, of input fields and of directives. */
import {
  type ArgumentNode,
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLSchema,
  Kind,
  type ObjectFieldNode,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  astFromValue,
  buildSchema,
  getNamedType,
  isInputObjectType,
  print,
  printSchema,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { variableTypesOf } from '../engine/plan/document-uses.ts';

export interface ChangedDefault {
  coordinate: string;
  node: ASTNode;
  message: string;
}

type Input = GraphQLArgument | GraphQLInputField;

/** Returns a function that compares one document, which is valid under the old schema. */
export function createDefaultComparison(old: GraphQLSchema, present: GraphQLSchema) {
  // Defaults of a schema from a text are complete: those of the fields of an input object are in that of its argument.
  const now = buildSchema(printSchema(present));

  return (document: DocumentNode): ChangedDefault[] => {
    const found = new Map<string, ChangedDefault>();
    const types = new TypeInfo(old);
    const note = (coordinate: string, node: ASTNode, was: Input, is: Input | undefined, how: string) => {
      const message = is && messageOf(coordinate, was, is, how);
      if (message !== undefined && !found.has(coordinate)) found.set(coordinate, { coordinate, node, message });
    };
    let maybeAbsent: ReadonlySet<string> = new Set();
    /** The inputs that the node does not give, or gives by a variable that may be absent. */
    const notGiven = <Of extends Input>(
      inputs: readonly Of[],
      given: readonly (ArgumentNode | ObjectFieldNode)[] = [],
    ) =>
      inputs.flatMap((input) => {
        const value = given.find(({ name }) => name.value === input.name)?.value;
        if (value && !(value.kind === Kind.VARIABLE && maybeAbsent.has(value.name.value))) return [];
        return [{ input, how: value ? `where $${nameIn(value)} is absent` : 'which the document does not give' }];
      });
    visit(
      document,
      visitWithTypeInfo(types, {
        OperationDefinition(node) {
          maybeAbsent = absentVariables(node.variableDefinitions);
        },
        // Which operations spread a fragment is not followed: any of their variables may be absent.
        FragmentDefinition() {
          maybeAbsent = absentVariables(
            document.definitions.flatMap((each) =>
              each.kind === Kind.OPERATION_DEFINITION ? (each.variableDefinitions ?? []) : [],
            ),
          );
        },
        Field(node) {
          const [parent, field] = [types.getParentType(), types.getFieldDef()];
          if (!parent || !field) return;
          const after = fieldOf(now, parent.name, field.name);
          for (const { input, how } of notGiven(field.args, node.arguments))
            note(`${parent.name}.${field.name}(${input.name}:)`, node, input, argumentOf(after, input.name), how);
        },
        Directive(node: DirectiveNode) {
          const after = now.getDirective(node.name.value) ?? undefined;
          for (const { input, how } of notGiven(old.getDirective(node.name.value)?.args ?? [], node.arguments))
            note(`@${node.name.value}(${input.name}:)`, node, input, argumentOf(after, input.name), how);
        },
        ObjectValue(node) {
          const type = getNamedType(types.getInputType() ?? undefined);
          if (!isInputObjectType(type)) return;
          for (const { input, how } of notGiven(Object.values(type.getFields()), node.fields))
            note(`${type.name}.${input.name}`, node, input, inputFieldOf(now, type.name, input.name), how);
        },
      }),
    );
    for (const { type, node } of variableTypesOf(old, document))
      if (isInputObjectType(type))
        for (const field of Object.values(type.getFields()))
          note(
            `${type.name}.${field.name}`,
            node,
            field,
            inputFieldOf(now, type.name, field.name),
            'where clients do not send it',
          );
    return [...found.values()];
  };
}

/** Without a default an absent value had no declared meaning that a document could rely on. */
function messageOf(coordinate: string, was: Input, is: Input, how: string): string | undefined {
  const [before, after] = [was, is].map(defaultOf);
  if (before === undefined || before === after) return undefined;
  const now = after === undefined ? 'there is none any more' : `is ${after}`;
  return `The default of ${coordinate} was ${before} and ${now}, ${how}.`;
}

function defaultOf({ defaultValue, type }: Input): string | undefined {
  if (defaultValue === undefined) return undefined;
  const value = astFromValue(defaultValue, type);
  return value ? print(value) : undefined;
}

const nameIn = (value: ValueNode): string => (value.kind === Kind.VARIABLE ? value.name.value : '');

/** Without a value the field gets its own default. */
const absentVariables = (definitions: readonly VariableDefinitionNode[] = []): ReadonlySet<string> =>
  new Set(
    definitions.flatMap(({ variable, type, defaultValue }) =>
      type.kind === Kind.NON_NULL_TYPE || defaultValue ? [] : [variable.name.value],
    ),
  );

const fieldOf = (schema: GraphQLSchema, type: string, name: string) => {
  const parent = schema.getType(type);
  return parent && 'getFields' in parent && !isInputObjectType(parent) ? parent.getFields()[name] : undefined;
};

const argumentOf = (of: { args: readonly GraphQLArgument[] } | undefined, name: string): GraphQLArgument | undefined =>
  of?.args.find((each) => each.name === name);

const inputFieldOf = (schema: GraphQLSchema, type: string, name: string): GraphQLInputField | undefined => {
  const parent = schema.getType(type);
  return isInputObjectType(parent) ? parent.getFields()[name] : undefined;
};
