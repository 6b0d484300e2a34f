/** The JSON Schema of an operation's input, from its variables. */
import {
  type ASTVisitor,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  TypeInfo,
  type ValueNode,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  typeFromAST,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';

export type JsonSchema = Record<string, unknown>;

/** The schema of an object, in the form that MCP requires for tools. */
export interface ObjectSchema extends JsonSchema {
  type: 'object';
  properties: Record<string, JsonSchema>;
  required?: string[];
}

const scalars: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
};
const text: JsonSchema = { type: 'string' };
/** The scalars of graphql-scalars have one in their extensions. */
const schemaOfScalar = ({ name, extensions }: GraphQLScalarType): JsonSchema =>
  scalars[name] ?? (extensions as { jsonSchema?: JsonSchema }).jsonSchema ?? text;

/**
 * The variables, without those that contain files. Those that must have a value are required, and their defaults become examples: an agent
 * that leaves out an id must not get another record. In a mutation all defaults become examples.
 */
export function inputSchemaOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, variableDefinitions = [] }: OperationDefinitionNode,
): ObjectSchema {
  const uses = descriptionsOfUses(schema, document);
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  const isMutation = operation === OperationTypeNode.MUTATION;
  for (const { variable, type, defaultValue, description } of variableDefinitions) {
    const name = variable.name.value;
    const of = typeFromAST(schema, type as never) as GraphQLInputType;
    if (hasFiles(of)) continue;
    const described = description?.value ?? uses.get(name);
    const isRequired = isNonNullType(of);
    const value = defaultValue && valueFromASTUntyped(defaultValue);
    properties[name] = {
      ...inputSchema(of, described),
      ...(defaultValue && (isMutation || isRequired ? { examples: [value] } : { default: value })),
    };
    if (isRequired) required.push(name);
  }
  return objectOf(properties, required);
}

const objectOf = (properties: Record<string, JsonSchema>, required: string[]): ObjectSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...(required.length > 0 && { required }),
});

/** Whether a value may contain files, which JSON cannot. */
export function hasFiles(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  if (isInputObjectType(named)) return Object.values(named.getFields()).some((field) => hasFiles(field.type));
  return named.name === 'Upload';
}

/** A document without the defaults of its mutations: they are examples, and none is written by accident. */
export const withoutExamples = (document: DocumentNode): DocumentNode =>
  visit(document, {
    OperationDefinition: ({ operation }) => (operation === OperationTypeNode.MUTATION ? undefined : false),
    VariableDefinition: (node) => ({ ...node, defaultValue: undefined }),
  });

/** Null in a form that every host of agents takes: some refuse a list of types. */
export const nullableSchema = ({ description, ...shape }: JsonSchema): JsonSchema => ({
  ...(description !== undefined && { description }),
  anyOf: [shape, { type: 'null' }],
});

function inputSchema(type: GraphQLInputType, description?: string | null): JsonSchema {
  const schema = schemaOfValue(type, description);
  return isNonNullType(type) ? schema : nullableSchema(schema);
}

function schemaOfValue(type: GraphQLInputType, description?: string | null): JsonSchema {
  const of = getNullableType(type);
  const described = description ? { description } : {};
  if (isListType(of)) return { type: 'array', ...described, items: inputSchema(of.ofType) };
  if (isEnumType(of)) {
    const values = of.getValues();
    const notes = values.flatMap((value) => (value.description ? [`${value.name}: ${value.description}`] : []));
    const words = [description ?? of.description, ...notes].filter(Boolean).join(' ');
    return { type: 'string', enum: values.map(({ name }) => name), ...(words && { description: words }) };
  }
  if (isInputObjectType(of)) {
    const fields = Object.values(of.getFields());
    const properties = Object.fromEntries(
      fields.map((field) => [field.name, inputSchema(field.type, field.description)]),
    );
    const required = fields.flatMap(({ name, type: given, defaultValue }) =>
      isNonNullType(given) && defaultValue === undefined ? [name] : [],
    );
    return { ...described, ...objectOf(properties, required) };
  }
  return { ...schemaOfScalar(of), ...described, ...limitsIn(of.name, description ?? '') };
}

/** Limits are only in the descriptions of the schema, always written in one of these two ways. */
function limitsIn(type: string, description: string): JsonSchema {
  const [, from, to] = /(?:^|[,;:] |From )(\d+) to (\d+)\b/i.exec(description) ?? [];
  if (type === 'Int' && from !== undefined) return { minimum: Number(from), maximum: Number(to) };
  const [, most] = /at most (\d+) characters/.exec(description) ?? [];
  return type === 'String' && most !== undefined ? { maxLength: Number(most) } : {};
}

/** For each variable the description of the argument or input field where it is used first. */
function descriptionsOfUses(schema: GraphQLSchema, document: DocumentNode): Map<string, string> {
  const found = new Map<string, string>();
  const types = new TypeInfo(schema);
  const note = (value: ValueNode, description: string | null | undefined) => {
    if (value.kind === Kind.VARIABLE && description && !found.has(value.name.value))
      found.set(value.name.value, description);
  };
  const visitor: ASTVisitor = {
    Argument: ({ value }) => note(value, types.getArgument()?.description),
    ObjectField: ({ name, value }) => {
      const parent = getNullableType(types.getParentInputType());
      if (isInputObjectType(parent)) note(value, parent.getFields()[name.value]?.description);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  return found;
}
