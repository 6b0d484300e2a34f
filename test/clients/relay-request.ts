import { InMemoryCache } from '@apollo/client';
import type { DocumentNode, FragmentDefinitionNode, GraphQLCompositeType, SelectionSetNode, ValueNode } from 'graphql';
import {
  GraphQLList,
  getNamedType,
  getNullableType,
  isCompositeType,
  isObjectType,
  print,
  valueFromASTUntyped,
} from 'graphql';
import type { ConcreteRequest } from 'relay-runtime';
import { schema } from '../../src/graph/schema.ts';

const typenames = new InMemoryCache();

const compiled = new WeakMap<DocumentNode, ConcreteRequest>();

/** A document as the compiler of Relay writes it, without its directives. */
export function relayRequest(document: DocumentNode): ConcreteRequest {
  const known = compiled.get(document) ?? compile(document);
  compiled.set(document, known);
  return known;
}

function compile(document: DocumentNode): ConcreteRequest {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions) if (each.kind === 'FragmentDefinition') fragments.set(each.name.value, each);
  const operation = document.definitions.find((each) => each.kind === 'OperationDefinition')!;
  const isQuery = operation.operation === 'query';
  const root = isQuery ? schema.getQueryType()! : schema.getMutationType()!;
  const selections = selectionsOf(operation.selectionSet, root, fragments);
  const argumentDefinitions = (operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => ({
    ...{ kind: 'LocalArgument', name: variable.name.value },
    defaultValue: defaultValue ? valueFromASTUntyped(defaultValue) : null,
  }));
  const text = print(typenames.transformDocument(document));
  const name = operation.name?.value ?? 'Query';
  const type = root.name;
  return {
    kind: 'Request',
    fragment: { kind: 'Fragment', argumentDefinitions, metadata: null, name, type, abstractKey: null, selections },
    operation: { kind: 'Operation', argumentDefinitions, name, selections },
    params: { id: null, cacheID: text, metadata: {}, name, operationKind: isQuery ? 'query' : 'mutation', text },
  } as unknown as ConcreteRequest;
}

function selectionsOf(
  { selections }: SelectionSetNode,
  parent: GraphQLCompositeType,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): object[] {
  return selections.flatMap((selection): object[] => {
    if (selection.kind !== 'Field') {
      const fragment = selection.kind === 'FragmentSpread' ? fragments.get(selection.name.value)! : selection;
      const type = schema.getType(fragment.typeCondition?.name.value ?? parent.name) as GraphQLCompositeType;
      const inner = selectionsOf(fragment.selectionSet, type, fragments);
      return type === parent
        ? inner
        : [{ kind: 'InlineFragment', type: type.name, abstractKey: null, selections: inner }];
    }
    const name = selection.name.value;
    const args = (selection.arguments ?? []).map((argument) => argumentOf(argument.name.value, argument.value));
    args.sort((a, b) => (a.name < b.name ? -1 : 1));
    const field = {
      alias: selection.alias?.value ?? null,
      args: args.length > 0 ? args : null,
      name,
      storageKey: null,
    };
    const type = 'getFields' in parent ? parent.getFields()[name]?.type : undefined;
    const named = type && getNamedType(type);
    if (!isCompositeType(named)) return [{ ...field, kind: 'ScalarField' }];
    const typename = { kind: 'ScalarField', alias: null, args: null, name: '__typename', storageKey: null };
    const inner = selectionsOf(selection.selectionSet!, named, fragments);
    return [
      {
        ...{ ...field, kind: 'LinkedField', concreteType: isObjectType(named) ? named.name : null },
        plural: getNullableType(type) instanceof GraphQLList,
        selections: isObjectType(named) ? inner : [typename, ...inner],
      },
    ];
  });
}

interface Argument {
  kind: 'Variable' | 'ObjectValue' | 'Literal';
  name: string;
  variableName?: string;
  fields?: Argument[];
  value?: unknown;
}

function argumentOf(name: string, value: ValueNode): Argument {
  if (value.kind === 'Variable') return { kind: 'Variable', name, variableName: value.name.value };
  if (value.kind === 'ObjectValue')
    return {
      kind: 'ObjectValue',
      name,
      fields: value.fields.map((field) => argumentOf(field.name.value, field.value)),
    };
  return { kind: 'Literal', name, value: valueFromASTUntyped(value) };
}
