/** What a document uses of a schema: fields, arguments, input fields, enum values and types, by their coordinates. */
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  type TypeNode,
  getNamedType,
  isEnumType,
  isInputObjectType,
  visit,
  visitWithTypeInfo,
} from 'graphql';

export interface Use {
  /** `Type.field`, `Type.field(argument:)`, `Input.field`, `Enum.VALUE`, `@directive`, `@directive(argument:)` or `Type`. */
  coordinate: string;
  node: ASTNode;
  /** Why it is deprecated. */
  deprecated: string | undefined;
}

/** In the order of the document, each as often as it is used. What a document selects below a field that is missing is not listed. */
export function usesOf(schema: GraphQLSchema, document: DocumentNode): Use[] {
  const uses: Use[] = [];
  const types = new TypeInfo(schema);
  const add = (coordinate: string, node: ASTNode, known?: { deprecationReason?: string | null | undefined } | null) =>
    uses.push({ coordinate, node, deprecated: known?.deprecationReason ?? undefined });
  /** The coordinate of the field that is being visited. */
  const field = () => `${types.getParentType()?.name}.${types.getFieldDef()?.name}`;
  visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const parent = types.getParentType();
        const { value: name } = node.name;
        if (parent && !name.startsWith('__')) add(`${parent.name}.${name}`, node, types.getFieldDef());
      },
      Argument(node) {
        const directive = types.getDirective();
        if (directive || types.getFieldDef())
          add(`${directive ? `@${directive.name}` : field()}(${node.name.value}:)`, node, types.getArgument());
      },
      Directive(node) {
        add(`@${node.name.value}`, node);
      },
      ObjectValue(node) {
        const type = named(types.getInputType());
        if (isInputObjectType(type)) add(type.name, node);
      },
      ObjectField(node) {
        const parent = named(types.getParentInputType());
        if (isInputObjectType(parent))
          add(`${parent.name}.${node.name.value}`, node, parent.getFields()[node.name.value]);
      },
      EnumValue(node) {
        const type = named(types.getInputType());
        if (isEnumType(type)) add(`${type.name}.${node.value}`, node, types.getEnumValue());
      },
      NamedType(node) {
        add(node.name.value, node);
      },
    }),
  );
  return uses;
}

interface VariableType {
  type: GraphQLInputObjectType | GraphQLEnumType;
  /** The definition of the variable. */
  node: ASTNode;
}

/** The input and enum types of which clients may send values in variables: the document does not show which fields and values these are. */
export function variableTypesOf(schema: GraphQLSchema, document: DocumentNode): VariableType[] {
  const found = new Map<string, VariableType>();
  const add = (type: GraphQLNamedType | undefined, node: ASTNode): void => {
    if (!type || found.has(type.name)) return;
    if (isEnumType(type) || isInputObjectType(type)) found.set(type.name, { type, node });
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) add(named(field.type), node);
  };
  visit(document, {
    VariableDefinition: (node) => add(schema.getType(nameOf(node.type)), node),
  });
  return [...found.values()];
}

const nameOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type));

const named = (type: Parameters<typeof getNamedType>[0] | null | undefined): GraphQLNamedType | undefined =>
  type ? getNamedType(type) : undefined;
