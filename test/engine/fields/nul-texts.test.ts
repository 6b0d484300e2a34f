import {
  type GraphQLInputField,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { facade } from '../../support/facade.ts';

const samples: Readonly<Record<string, unknown>> = {
  ID: '7',
  String: '字'.repeat(200),
  Int: 1,
  Boolean: true,
  DateTime: '2026-12-18T19:30:00+08:00',
};

/** A value that the schema accepts; undefined for a file. */
function valueOf(type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [];
  if (isEnumType(nullable)) return nullable.getValues()[0]!.name;
  if (!isInputObjectType(nullable)) return samples[nullable.name];
  const fields = Object.values(nullable.getFields()).filter(isRequiredInputField);
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field.type)]));
}

const isText = ({ type }: GraphQLInputField) => ['String', '[String!]', 'ID'].includes(String(getNullableType(type)));
const cases = Object.values(schema.getMutationType()!.getFields()).flatMap(({ name, args }) => {
  const input = getNullableType(args[0]!.type);
  if (!isInputObjectType(input)) return [];
  const texts = Object.values(input.getFields()).filter(isText);
  return texts.map((field) => ({ mutation: name, input, field }));
});

test('mutations have texts', () => expect(cases.length).toBeGreaterThan(40));

test.each(cases.map((each) => [`${each.mutation}.${each.field.name}`, each] as const))(
  '%s: a text with U+0000 is a violation with its path, and no call is made',
  async (_, { mutation, input, field }) => {
    const { execute, calls } = facade();
    const isList = isListType(getNullableType(field.type));
    const text = `${'字'.repeat(100)}\0${'字'.repeat(100)}`;
    const given = { ...(valueOf(input) as object), [field.name]: isList ? ['a', text] : text };
    const { errors } = await execute(
      `mutation ($input: ${input.name}!) { ${mutation}(input: $input) { __typename } }`,
      {
        token: 'alice',
        variables: { input: given },
      },
    );
    const path = ['input', field.name, ...(isList ? [1] : [])];
    const violations = (errors![0]!.extensions.violations as { path: unknown; code: string }[]).filter(
      (violation) => violation.code === 'INVALID_TEXT',
    );
    expect(violations).toMatchObject([{ path, message: expect.stringContaining('U+0000') as string }]);
    expect(calls).toEqual([]);
  },
);
