import type { GraphQLSchema } from 'graphql';
import type { RateLimitState } from '../upstream/limits/rate-limiter.ts';
import type { Viewer as ViewerFacts } from '../upstream/auth/viewer.ts';
import type { TypeRule } from './engine/field-rule.ts';
import { builder } from './engine/builder.ts';
import { badInput } from './errors/to-client-error.ts';
import { Node } from './types/node.ts';

/** The most ids that `nodes` takes. */
const NODES_MAX = 100;

const FilmTier = builder.enumType('FilmTier', {
  description:
    'The film interface is sold in three tiers. They are sets, not a ladder: premium lacks some of what basic has.',
  values: {
    BASIC: { value: 'basic', description: 'Open to all; 40 calls a minute.' },
    ADVANCE: { value: 'advance', description: 'Has the most: celebrities, charts, photos, reviews, comments.' },
    PREMIUM: { value: 'premium', description: 'Without a limit of calls; without celebrities and most charts.' },
  } as const,
});

const RateBudget = builder.objectRef<RateLimitState>('RateBudget').implement({
  description: 'The calls that the service lets a token make in one minute.',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'Calls a minute.' }),
    remaining: t.exposeInt('remaining', { description: 'Calls left now.' }),
    resetsAt: t.field({
      type: 'DateTime',
      description: 'When the first of those spent comes back.',
      resolve: ({ resetsAt }) => new Date(resetsAt).toISOString(),
    }),
  }),
});

const Viewer = builder.objectRef<ViewerFacts>('Viewer').implement({
  description: 'What the caller may do, as far as the request and earlier answers tell.',
  fields: (t) => ({
    isLoggedIn: t.exposeBoolean('isLoggedIn', {
      description: 'Whether a bearer token was sent; whether the service takes it shows in the first call.',
    }),
    filmTier: t.expose('filmTier', {
      type: FilmTier,
      nullable: true,
      description: 'The tier that films are read with: configured, or learned from what came; null while unknown.',
    }),
    rateBudget: t.field({
      type: RateBudget,
      nullable: true,
      description: 'What is left of the rate; null without a token or without a limit.',
      resolve: (_, __, { upstream }) => upstream.rateBudget(),
    }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    description: 'What this caller may do. Costs no call.',
    resolve: (_, __, { viewer, upstream }) => {
      upstream.cachePolicy.restrict(null); // it changes with every answer, and is nobody else's
      return viewer;
    },
  }),
  node: t.field({
    type: Node,
    nullable: true,
    description: 'Anything that can be read again by its id; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'A global id, `<Type>:<id>`.' }) },
    recordCounts: ({ id }: { id?: string }) => countsOf([id ?? '']),
    resolve: (_, { id }, __, { schema }) => nodeOf(id, schema),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `The same for up to ${NODES_MAX} ids, in their order, null where there is none.`,
    args: { ids: t.arg.idList({ required: true, description: `Global ids, at most ${NODES_MAX}.` }) },
    recordCounts: ({ ids = [] }: { ids?: readonly string[] }) => countsOf(ids.length > NODES_MAX ? [] : ids),
    resolve: (_, { ids }, __, { schema }) => {
      if (ids.length > NODES_MAX)
        throw badInput(`\`ids\` must be at most ${NODES_MAX}.`, { argument: 'ids', limit: NODES_MAX });
      return ids.map((id) => {
        try {
          return nodeOf(id, schema);
        } catch (error) {
          return error as object; // an error at its own place in the list, the others stand
        }
      });
    },
  }),
}));

/** How many of the ids name a record of each type. */
function countsOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const type = id.slice(0, id.indexOf(':'));
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

/**
 * The object that a global id stands for, marked with its type; the engine reads the rest. Null for a key that none can have.
 * What an id may name, the types say of themselves.
 */
export function nodeOf(id: string, schema: GraphQLSchema): object | null {
  const [, name, key = ''] = /^([A-Za-z]+):(.*)$/s.exec(id) ?? [];
  const rule =
    name === undefined ? undefined : (schema.getType(name)?.extensions.pothosOptions as TypeRule | undefined);
  if (!rule?.nodeOf)
    throw badInput('That is not the global id of anything that can be read by it.', { argument: 'id' });
  const object = rule.nodeOf(key);
  return object && { ...object, __typename: name };
}
