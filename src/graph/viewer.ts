import type { RateLimitState } from '../upstream/limits/rate-limiter.ts';
import type { Viewer as ViewerFacts } from '../upstream/auth/viewer.ts';
import { builder } from '../engine/builder.ts';
import { mayUse } from '../engine/requirements/requirements.ts';
import { FilmTier } from './types/film-tier.ts';
import { callerField } from './caller.ts';

const RateBudget = builder.objectRef<RateLimitState>('RateBudget').implement({
  description: 'The film calls that a token may make in one minute.',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'The calls a minute.' }),
    remaining: t.exposeInt('remaining', { description: 'The calls left now.' }),
    resetsAt: t.expose('resetsAt', {
      type: 'DateTime',
      description: 'When the oldest call of the last minute stops counting, so that one more is allowed.',
    }),
  }),
});

const Viewer = builder.objectRef<ViewerFacts>('Viewer').implement({
  description: 'The caller and the permissions of the caller, as far as the request and earlier responses show them.',
  fields: (t) => ({
    isLoggedIn: t.exposeBoolean('isLoggedIn', {
      description: 'Whether a bearer token was sent. The first call shows whether the service accepts it.',
    }),
    user: callerField(
      t,
      'The caller. No operation of the service says to whom a token belongs, so this comes from earlier responses to the same token: ' +
        '`id` from the collection of a book, `id` and `name` from an annotation, review, comment or event that the caller wrote. Other fields, and a name not told yet, cost one call.',
      'no response has named the caller yet, or the request has no token',
    ),
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
        'Whether login and film tier of the caller are sufficient for a field. A token counts as valid until the service rejects it. ' +
        'The scopes of a token are not known, so the service may still reject the call.',
      nullIf:
        'it depends on the film tier, which is not known yet, or on what is cached, because the service rejects the token',
      args: {
        coordinate: t.arg.string({
          required: true,
          description: 'The field, as `Type.field`: `Query.top250`, `Subject.writers`, `Mutation.collectBook`.',
        }),
      },
      resolve: (viewer, { coordinate }, _, { schema }) => mayUse(coordinate, schema, viewer),
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description:
      'The caller and the permissions of the caller, as far as earlier responses show them. Makes no call, except for `user`. That is null until a response has named the caller, ' +
      'such as `book { viewerCollection { user { id } } }` of a collected book, or a write of a collection, an annotation, a review or a comment.',
    resolve: (_, __, { viewer, upstream }) => {
      upstream.cachePolicy.restrict(null); // it changes with every response and is private
      return viewer;
    },
  }),
);
