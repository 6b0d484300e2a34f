/** JSON Schemas of an operation: its input from the variables, its output from the selection. */
import {
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  TypeInfo,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isInterfaceType,
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
  DateTime: { type: 'string', format: 'date-time' },
  URL: { type: 'string', format: 'uri' },
};
const text: JsonSchema = { type: 'string' };
/** Of `__typename`, which is no field of its type. */
const typename = new GraphQLNonNull(GraphQLString);

/**
 * The variables, without those that contain files. Those that must have a value are required, and their defaults become examples: an agent
 * that leaves out an id must not get another record. In a mutation all defaults become examples, so that none is written by accident.
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
  return { type: 'object', properties, additionalProperties: false, ...(required.length > 0 && { required }) };
}

/** Whether a value may contain files, which JSON cannot. */
export function hasFiles(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  if (isInputObjectType(named)) return Object.values(named.getFields()).some((field) => hasFiles(field.type));
  return named.name === 'Upload';
}

function inputSchema(type: GraphQLInputType, description?: string | null): JsonSchema {
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
    return {
      type: 'object',
      ...described,
      properties,
      additionalProperties: false,
      ...(required.length > 0 && { required }),
    };
  }
  return { ...(scalars[of.name] ?? text), ...described, ...limitsIn(of.name, description ?? '') };
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
  const note = (value: { kind: string }, description: string | null | undefined) => {
    if (value.kind !== Kind.VARIABLE || !description) return;
    const { name } = value as unknown as { name: { value: string } };
    if (!found.has(name.value)) found.set(name.value, description);
  };
  const visitor: ASTVisitor = {
    Argument: (node) => note(node.value, types.getArgument()?.description),
    ObjectField: (node) => {
      const parent = getNullableType(types.getParentInputType());
      if (isInputObjectType(parent)) note(node.value, parent.getFields()[node.name.value]?.description);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  return found;
}

/** One selection of a response key: the type of its field, and what is selected of that type. */
interface SelectedField {
  type: GraphQLOutputType;
  set: SelectionSetNode | undefined;
}

/** The data of an operation. Null stands for whatever is absent or failed, as the types of the schema say. */
export function dataSchemaOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
): JsonSchema {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  return ofObject([{ type: schema.getRootType(operation)!, set: selectionSet }]);

  /** An object that any of these selections can give: it has the fields of all. */
  function ofObject(selections: readonly SelectedField[]): JsonSchema {
    const fields = new Map<string, SelectedField[]>();
    for (const { type, set } of selections) if (set) collect(getNamedType(type), set, fields);
    const properties = [...fields].map(([key, selected]) => [key, ofOutput(selected[0]!.type, selected)]);
    return { type: 'object', properties: Object.fromEntries(properties) as JsonSchema };
  }

  function collect(parent: GraphQLNamedType, set: SelectionSetNode, fields: Map<string, SelectedField[]>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const of = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields() : {};
        const field = { type: of[selection.name.value]?.type ?? typename, set: selection.selectionSet };
        const known = fields.get(key);
        if (known) known.push(field);
        else fields.set(key, [field]);
        continue;
      }
      const part = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value)! : selection;
      const condition = part.typeCondition?.name.value;
      collect(condition ? schema.getType(condition)! : parent, part.selectionSet, fields);
    }
  }

  /** Validation makes all selections of a response key agree in lists, null and scalars, so one type shows these. */
  function ofOutput(type: GraphQLOutputType, selections: readonly SelectedField[]): JsonSchema {
    const isNullable = !isNonNullType(type);
    const of = getNullableType(type);
    let shape: JsonSchema;
    if (isListType(of)) shape = { type: 'array', items: ofOutput(of.ofType, selections) };
    else if (isCompositeType(of)) shape = ofObject(selections);
    else if (isEnumType(of)) shape = { type: 'string', enum: of.getValues().map(({ name }) => name) };
    else shape = { type: (scalars[(of as { name: string }).name] ?? text).type };
    if (!isNullable) return shape;
    const { enum: values } = shape as { enum?: string[] };
    return { ...shape, type: [shape.type, 'null'], ...(values && { enum: [...values, null] }) };
  }
}
