import { type GraphQLSchema, isObjectType } from 'graphql';
import { builder } from './builder.ts';
import { badInput } from './errors/to-client-error.ts';
import { partsOfId, typeRule } from './plan/read-declarations.ts';
import { Node } from './fields/node.ts';

/** The most ids of `nodes`: as many as the largest page has items. */
export const NODES_MAX = 100;

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'An object by its global id.',
    nullIf: 'there is none',
    args: { id: t.arg.id({ required: true, description: 'A global id, `<Type>:<id>`, such as `Book:6082808`.' }) },
    globalIds: ({ id = '' }: { id?: string }) => [id],
    resolve: (_, { id }, __, { schema }) => nodeOf(id, schema),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `Objects by up to ${NODES_MAX} global ids: one item for each id, in the same order. Of more ids, item ${NODES_MAX + 1} is an error, and the list ends there.`,
    nullIf: 'there is no object with the id: the item, never the list',
    args: {
      ids: t.arg.idList({ required: true, description: `Global ids such as \`Book:6082808\`, at most ${NODES_MAX}.` }),
    },
    globalIds: ({ ids = [] }: { ids?: readonly string[] }) => ids.slice(0, NODES_MAX),
    resolve: (_, { ids }, __, { schema }) =>
      // An error at its own index in the list: the other items are kept.
      ids.slice(0, NODES_MAX + 1).map((id, at) => {
        if (at === NODES_MAX) return tooManyIds(ids.length);
        try {
          return nodeOf(id, schema, 'ids');
        } catch (error) {
          return error as object;
        }
      }),
  }),
}));

const tooManyIds = (actual: number): Error =>
  badInput(`\`ids\` must have at most ${NODES_MAX} items, here ${actual}.`, {
    argument: 'ids',
    limit: NODES_MAX,
    actual,
  });

/** The object of a global id, with its type name; the engine loads the rest. Null if there can be no such object. */
export function nodeOf(id: string, schema: GraphQLSchema, argument = 'id'): object | null {
  const parts = partsOfId(id);
  const type = parts && schema.getType(parts.type);
  const rule = isObjectType(type) ? typeRule(type) : undefined;
  if (!parts || !rule?.nodeOf)
    throw badInput('This is not the global id of an object that can be loaded.', { argument });
  const object = rule.nodeOf(parts.key);
  return object && { ...object, __typename: parts.type };
}
