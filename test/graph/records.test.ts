import fc from 'fast-check';
import { GraphQLError, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { fieldRule, typeRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';
import { thorough } from '../support/optional.ts';

type Declared = ReturnType<typeof fieldRule> & { resolve?: (parent: object, args: object, context: object) => unknown };

const types = Object.values(schema.getTypeMap()).filter(isObjectType);

/** Fields that read a record. */
const fields = types
  .filter(
    (type) =>
      !type.name.startsWith('__') &&
      !typeRule(type).isWrapper &&
      type !== schema.getQueryType() &&
      type !== schema.getMutationType(),
  )
  .flatMap((type) =>
    Object.values(type.getFields()).map(
      (field) => [`${type.name}.${field.name}`, type, fieldRule(field) as Declared] as const,
    ),
  )
  .filter(([, type, rule]) => !rule.endpoint && rule.resolve && typeRule(type).record);

test.each(fields)(
  '%s reads only the members that it declares, and throws at most a GraphQLError for any value',
  (_, __, rule) => {
    const declared = new Set([
      ...(rule.needs ?? []),
      ...(rule.idIn ? [rule.idIn] : []),
      ...Object.values(rule.needsBelow ?? {}).flat(),
    ]);
    const member = fc.oneof(fc.jsonValue(), fc.constant(undefined));
    const record = fc.record(Object.fromEntries([...declared].map((name) => [name, member])), { requiredKeys: [] });
    fc.assert(
      fc.property(record, (parent) => {
        const watched = new Proxy(parent, {
          get: (target, name) => {
            if (typeof name === 'string') expect([...declared]).toContain(name);
            return Reflect.get(target, name);
          },
        });
        try {
          rule.resolve?.(
            watched,
            {},
            {
              viewer: { isLoggedIn: true, person: { id: '1', uid: 'one' } },
              readAsNobody: () => Promise.resolve(null),
            },
          );
        } catch (error) {
          if (!(error instanceof GraphQLError)) throw error;
        }
      }),
      { numRuns: thorough ? 60 : 25 },
    );
  },
);

test('every type, field, argument and value has a description', () => {
  const bare: string[] = [];
  const note = (name: string, { description }: { description?: string | null | undefined }) =>
    description || bare.push(name);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    note(type.name, type);
    if ('getValues' in type) for (const value of type.getValues()) note(`${type.name}.${value.name}`, value);
    if (!('getFields' in type)) continue;
    for (const field of Object.values(type.getFields())) {
      note(`${type.name}.${field.name}`, field);
      if ('args' in field) for (const arg of field.args) note(`${type.name}.${field.name}(${arg.name})`, arg);
    }
  }
  expect(bare).toEqual([]);
});
