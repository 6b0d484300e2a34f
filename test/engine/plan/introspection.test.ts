import { type ExecutionResult, type OperationDefinitionNode, executeSync, getIntrospectionQuery, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/engine/context.ts';
import { createExecutor } from '../../../src/engine/execute/executor.ts';
import { planOperation } from '../../../src/engine/plan/plan-operation.ts';
import { schema } from '../../../src/graph/schema.ts';

/** The members of all objects in a value. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return members.reduce((sum, each) => sum + valuesIn(each), Array.isArray(value) ? 0 : members.length);
}

function boundOf(query: string): number {
  const document = parse(query);
  const operation = document.definitions[0] as OperationDefinitionNode;
  return planOperation(schema, document, operation, { isLoggedIn: false, filmTier: null }, {}).introspected;
}

test.each([
  '{ __schema { types { name fields { name args { name } } } } }',
  '{ __schema { types { inputFields { name } enumValues { name } possibleTypes { name } interfaces { name } } } }',
  '{ __schema { directives { name locations args { name } } } }',
  '{ __type(name: "Book") { fields { name args { name type { name } } } } }',
  getIntrospectionQuery(),
])('the bound of introspection is at least what the result has: %s', (query) => {
  const { data } = executeSync({ schema, document: parse(query) });
  const values = valuesIn(data) - 1; // `__schema` itself is not counted
  expect(values).toBeGreaterThan(10);
  expect(boundOf(query)).toBeGreaterThanOrEqual(values);
});

test('the bound of all fields of all types, and of all their arguments, is what the schema has', () => {
  const query = '{ __schema { types { fields { name args { name } } } } }';
  const { data } = executeSync({ schema, document: parse(query) });
  // Types without fields have null instead of a list, and the bound counts it as a value too.
  expect(boundOf(query)).toBeLessThanOrEqual(valuesIn(data) + Object.keys(schema.getTypeMap()).length);
});

test('the executor returns what graphql-js returns', async () => {
  const document = parse(getIntrospectionQuery());
  const operation = document.definitions[0] as OperationDefinitionNode;
  const plan = planOperation(schema, document, operation, { isLoggedIn: false, filmTier: null }, {});
  const { data } = (await createExecutor(schema, plan)({} as Context, {})) as ExecutionResult;
  expect(data).toEqual(executeSync({ schema, document }).data);
});
