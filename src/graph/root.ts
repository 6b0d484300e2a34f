import type { GraphQLSchema } from 'graphql';
import type { RateLimitState } from '../upstream/limits/rate-limiter.ts';
import type { Viewer as ViewerFacts } from '../upstream/auth/viewer.ts';
import type { TypeRule } from './engine/field-rule.ts';
import { builder } from './engine/builder.ts';
import { badInput } from './errors/to-client-error.ts';
import { mayUse, requirementOf } from './service/requirements.ts';
import { FilmTier } from './types/film-tier.ts';
import { Node } from './types/node.ts';
import { User, carried } from './types/user.ts';

/** The most ids of `nodes`. */
const NODES_MAX = 100;

const RateBudget = builder.objectRef<RateLimitState>('RateBudget').implement({
  description: 'The film calls that a token may make in one minute.',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'The calls a minute.' }),
    remaining: t.exposeInt('remaining', { description: 'The calls left now.' }),
    resetsAt: t.field({
      type: 'DateTime',
      description: 'When the oldest call of the last minute stops counting, so that one more is allowed.',
      resolve: ({ resetsAt }) => new Date(resetsAt).toISOString(),
    }),
  }),
});

const Viewer = builder.objectRef<ViewerFacts>('Viewer').implement({
  description: 'The caller and the permissions of the caller, as far as the request and earlier responses show them.',
  fields: (t) => ({
    isLoggedIn: t.exposeBoolean('isLoggedIn', {
      description: 'Whether a bearer token was sent. The first call shows whether the service accepts it.',
    }),
    user: t.field({
      type: User,
      nullable: true,
      description:
        'The caller. No operation of the service says to whom a token belongs, so this comes from earlier responses to the same token: ' +
        '`id`, `uid` and `name` from the collection of a book, or from an annotation, review, comment or event that the caller wrote.',
      nullIf: 'no response has named the caller yet, or the request has no token',
      ...carried,
      resolve: ({ person }) => person ?? null,
    }),
    filmTier: t.expose('filmTier', {
      type: FilmTier,
      nullable: true,
      description: "The film tier of the request's token: configured, or learned from responses.",
      nullIf: 'it is not known yet',
    }),
    rateBudget: t.field({
      type: RateBudget,
      nullable: true,
      description: 'What the rate limit of films allows.',
      nullIf: 'the request has no token, or no limit is known for it',
      resolve: (_, __, { upstream }) => upstream.rateBudget(),
    }),
    canUse: t.boolean({
      nullable: true,
      description:
        'Whether login and film tier of the caller are sufficient for a field. The scopes of a token are not known, so the service may still reject the call.',
      nullIf: 'it depends on the film tier, which is not known yet',
      args: {
        coordinate: t.arg.string({
          required: true,
          description: 'The field, as `Type.field`: `Query.top250`, `Subject.writers`, `Mutation.collectBook`.',
        }),
      },
      resolve: (viewer, { coordinate }, _, { schema }) => mayUse(requirementOf(coordinate, schema), viewer),
    }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    description:
      'The caller and the permissions of the caller, as far as earlier responses show them. Makes no call. `user` is null until a response has named the caller, ' +
      'such as `book { viewerCollection { user { id } } }` of a collected book, or any write.',
    resolve: (_, __, { viewer, upstream }) => {
      upstream.cachePolicy.restrict(null); // it changes with every response and is private
      return viewer;
    },
  }),
  node: t.field({
    type: Node,
    nullable: true,
    description: 'An object by its global id.',
    nullIf: 'there is none',
    args: { id: t.arg.id({ required: true, description: 'A global id, `<Type>:<id>`.' }) },
    recordCounts: ({ id }: { id?: string }) => countsOf([id ?? '']),
    resolve: (_, { id }, __, { schema }) => nodeOf(id, schema),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `Objects by up to ${NODES_MAX} global ids: one item for each id, in the same order.`,
    nullIf: 'there is no object with the id: the item, never the list',
    args: { ids: t.arg.idList({ required: true, description: `Global ids, at most ${NODES_MAX}.` }) },
    recordCounts: ({ ids = [] }: { ids?: readonly string[] }) => countsOf(ids.length > NODES_MAX ? [] : ids),
    resolve: (_, { ids }, __, { schema }) => {
      if (ids.length > NODES_MAX)
        throw badInput(`\`ids\` must have at most ${NODES_MAX} items.`, { argument: 'ids', limit: NODES_MAX });
      return ids.map((id) => {
        try {
          return nodeOf(id, schema, 'ids');
        } catch (error) {
          return error as object; // an error at its own place in the list; the other items are kept
        }
      });
    },
  }),
}));

/** The number of ids of each type. */
function countsOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const type = id.slice(0, id.indexOf(':'));
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

/** The object of a global id, with its type name; the engine loads the rest. Null if there can be no such object. */
export function nodeOf(id: string, schema: GraphQLSchema, argument = 'id'): object | null {
  const [, name, key = ''] = /^([A-Za-z]+):(.*)$/s.exec(id) ?? [];
  const rule =
    name === undefined ? undefined : (schema.getType(name)?.extensions.pothosOptions as TypeRule | undefined);
  if (!rule?.nodeOf) throw badInput('This is not the global id of an object that can be loaded.', { argument });
  const object = rule.nodeOf(key);
  return object && { ...object, __typename: name };
}
