import {
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { expect, test } from 'vitest';
import { allFields, fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';

/** Everything that has a description, by its coordinate. */
function* described(): Generator<readonly [coordinate: string, text: string]> {
  for (const type of types) {
    yield [type.name, type.description ?? ''];
    if (isEnumType(type))
      for (const { name, description } of type.getValues()) yield [`${type.name}.${name}`, description ?? ''];
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field.description ?? ''];
      if ('args' in field)
        for (const { name, description } of field.args)
          yield [`${type.name}.${field.name}(${name}:)`, description ?? ''];
    }
  }
}
const types: readonly GraphQLNamedType[] = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type),
);
const texts = [...described()];
const whereFails = (rule: (text: string) => boolean) => texts.filter(([, text]) => !rule(text));

test('a description is made of sentences, and begins with a word for its reader', () => {
  expect(texts.length).toBeGreaterThan(900);
  expect(whereFails((text) => /^[A-Z]/.test(text) && text.endsWith('.'))).toEqual([]);
});

test('the interface of the service is named in the last sentence, and nowhere else', () => {
  const last = / Upstream: (?:`[^`]+`|[a-z ]+|, | of )+\.$/;
  expect(texts.filter(([, text]) => last.test(text)).length).toBeGreaterThan(150);
  expect(whereFails((text) => !/upstream|\b(?:GET|POST|PUT|DELETE) \//i.test(text.replace(last, '')))).toEqual([]);
});

test('a field that calls an operation of the service names it', () => {
  for (const { field, coordinate } of allFields(schema)) {
    const { endpoint, writeEndpoint } = fieldRule(field);
    if (!endpoint && !writeEndpoint) continue;
    expect(field.description, coordinate).toMatch(/ Upstream: `(?:GET|POST|PUT|DELETE) \//);
  }
});

test('what a response may have one day is said of enums and unions in it, and of no others', () => {
  const shown = new Set([...allFields(schema)].map(({ field }) => getNamedType(field.type)));
  for (const type of types)
    if (isEnumType(type) || isUnionType(type))
      expect([type.name, / More (?:values|types) may be added\.$/.test(type.description!)]).toEqual([
        type.name,
        shown.has(type),
      ]);
});

test('no description says of a type what a person would say of a thing', () => {
  expect(whereFails((text) => !/no such [A-Z]|has no such list/.test(text))).toEqual([]);
});

test('an argument with an id has an example', () => {
  const ids = [...allFields(schema)].flatMap(({ field, coordinate }) =>
    field.args.flatMap(({ name, type, description }) =>
      getNamedType(type).name === 'ID' ? [[`${coordinate}(${name}:)`, description] as const] : [],
    ),
  );
  expect(ids.length).toBeGreaterThan(12);
  expect(ids.filter(([, text]) => !/such as `[\w:-]+`/.test(text ?? ''))).toEqual([]);
});

test('how ids, keys and onError of mutations work is said once', () => {
  const says = (word: string) =>
    texts.flatMap(([coordinate, text]) =>
      text.includes(word) && !coordinate.startsWith('ErrorCode.') ? [coordinate] : [],
    );
  expect(says('Idempotency-Key')).toEqual(['Mutation']);
  expect(says('onError')).toEqual(['Mutation']);
  expect(schema.getMutationType()!.description).toContain('`id` in the input');
});
