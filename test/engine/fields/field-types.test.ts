import SchemaBuilder, { BasePlugin, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { builder } from '../../../src/engine/builder.ts';
import '../../../src/engine/fields/declare.ts';
import { Book } from '../../../src/graph/book/book.ts';
import { User } from '../../../src/graph/types/user.ts';

/** Checked by the compiler, never run. */
const fields = () =>
  builder.objectFields(Book, (t) => ({
    // @ts-expect-error -- the title is no person
    author: t.record(User, { member: 'title' }, ''),
    // @ts-expect-error -- the images are no id
    owner: t.record(User, { id: 'images' }, ''),
    // @ts-expect-error -- the endpoint needs an id, and nothing is read from the book
    again: t.call({ type: Book, description: '', endpoint: bookEndpoints.byId }),
    // @ts-expect-error -- the response is a book, not a text
    text: t.call({ type: 'String', description: '', endpoint: bookEndpoints.byId, from: ['id'] }),
    // @ts-expect-error -- the publisher is read and not declared
    computed: t.computed({ type: 'String', description: '', needs: ['title'], resolve: ({ publisher }) => publisher }),
    // @ts-expect-error -- what is read of the record is declared by t.computed alone
    plain: t.string({ description: '', needs: ['title'], resolve: ({ title }) => title }),
    // @ts-expect-error -- an id is no number
    number: t.computed({ type: 'Int', description: '', needs: ['id'], resolve: ({ id }) => id }),
    // @ts-expect-error -- a call is declared, so that the plan and the cost know it
    called: t.int({ description: '', resolve: (_, __, { upstream }) => Number(upstream.responses) }),
    copy: t.call({ type: Book, description: '', endpoint: bookEndpoints.byId, from: ['id'] }),
  }));

test('the compiler checks members, ids and defaults of declared fields', () => {
  expect(fields).toBeTypeOf('function');
});

test('a field of a record that reads it without saying what is rejected when the schema is built', () => {
  const other = new SchemaBuilder<{ DefaultFieldNullability: false }>({
    plugins: ['declarations'],
    defaultFieldNullability: false,
  });
  other.queryType({ fields: (t) => ({ n: t.int({ resolve: () => 1 }) }) });
  other.objectRef<{ title: string }>('Thing').implement({
    record: {} as never,
    fields: (t) => ({ title: t.string({ resolve: ({ title }) => title }) }),
  });
  expect(() => other.toSchema()).toThrow('Thing.title reads its record and does not say what: use t.computed.');
});

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      loud: LoudPlugin<Types>;
    }
  }
}

/** Wraps the resolvers of the fields that say so, as a plugin of authorization does. */
class LoudPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { pothosOptions }: { pothosOptions: object },
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    return 'loud' in pothosOptions ? (parent, args, context, info) => resolver(parent, args, context, info) : resolver;
  }
}

describe.each([[['declarations', 'loud'] as const], [['loud', 'declarations'] as const]])(
  'with a plugin of Pothos that wraps resolvers, in the order %j',
  (plugins) => {
    SchemaBuilder.allowPluginReRegistration = true;
    SchemaBuilder.registerPlugin('loud', LoudPlugin);

    /** A schema with a field that calls and one that computes; `loud` names those that the plugin wraps. */
    const built = (loud: readonly ('called' | 'computed')[]) => {
      const other = new SchemaBuilder<{ DefaultFieldNullability: false }>({
        plugins: [...plugins],
        defaultFieldNullability: false,
      });
      const more = (name: 'called' | 'computed'): object => (loud.includes(name) ? { loud: true } : {});
      other.queryType({
        fields: (t) => ({
          called: t.int({ ...({ endpoint: bookEndpoints.byId } as object), ...more('called'), resolve: () => 1 }),
          computed: t.int({ ...more('computed'), resolve: () => 1 }),
        }),
      });
      return other.toSchema();
    };

    test('a field that calls is refused when the schema is built, with the plugin and what to do', () => {
      expect(() => built(['called', 'computed'])).toThrow(
        'Query.called makes a call, so no resolver runs that the plugin "loud" of Pothos could wrap. ' +
          'Leave this field out of it, or decide before the operation is run: by the hook authorize of createFacade, or by a plugin of Envelop.',
      );
    });

    test('fields that it leaves as they are, and those whose own resolver runs, are accepted', () => {
      expect(Object.keys(built(['computed']).getQueryType()!.getFields())).toEqual(['called', 'computed']);
    });
  },
);
