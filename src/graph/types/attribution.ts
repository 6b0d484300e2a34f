/** The conditions of use of films, ratings and reviews as data, for those who build pages with them. */
import { type UseCondition, usageTiers, useConditions } from '../../api/film.ts';
import { builder } from '../../engine/builder.ts';
import { asUrl } from '../../engine/values/decode.ts';
import { FilmTier } from './film-tier.ts';
import type { FieldBuilder } from '../../engine/fields/node.ts';

export interface AttributionShape {
  condition: UseCondition;
  /** The page of the entry, as the service writes it. */
  url: unknown;
}

const ShowWith = builder.enumType('AttributionPart', {
  description: 'What must be shown together with data of the service.',
  values: {
    RATING: { description: 'The rating by all users, `Subject.rating`.' },
    LABEL: { description: 'The name of the service, `label`.' },
    ENTRY_LINK: { description: 'A link to the page of the entry, `entryUrl`.' },
  } as const,
});

const ShowApartFrom = builder.enumType('AttributionForeign', {
  description: 'What must be kept apart from data of the service.',
  values: {
    OTHER_PROVIDERS_DATA: { description: 'Film data of other providers.' },
    OTHER_PROVIDERS_RATINGS: { description: "Ratings of other providers, or the application's own." },
    OTHER_PROVIDERS_REVIEWS: { description: "Reviews of other providers, or the application's own." },
  } as const,
});

export const Attribution = builder.objectRef<AttributionShape>('Attribution').implement({
  description: 'How data of the service must be shown under its conditions of use. docs/attribution.md lists them all.',
  fields: (t) => ({
    label: t.string({
      description: 'The name of the service, with which the data is labelled.',
      resolve: (_, __, { serviceName }) => serviceName,
    }),
    entryUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'The page of the film or review at the service, for a link.',
      upstream: '`alt`',
      nullIf: 'the service has none',
      resolve: ({ url }) => asUrl(url),
    }),
    showWith: t.field({
      type: [ShowWith],
      description: 'What must be shown together with the data.',
      resolve: ({ condition }) => [...condition.showWith],
    }),
    showApartFrom: t.field({
      type: [ShowApartFrom],
      description: 'What must be kept apart from the data.',
      resolve: ({ condition }) => [...condition.showApartFrom],
    }),
    tiers: t.field({
      type: [FilmTier],
      description: 'The film tiers whose conditions of use require this.',
      resolve: () => [...usageTiers],
    }),
  }),
});

/** `attribution` of a film or a review, whose `alt` is its page. */
export const attributionOf = <Shape extends { alt?: unknown }>(t: FieldBuilder<Shape>, of: 'film' | 'review') =>
  t.computed({
    type: Attribution,
    description: `How the ${of} must be shown under the conditions of use of the service.`,
    needs: ['alt'],
    upstream: false,
    resolve: ({ alt }) => ({ condition: useConditions[of], url: alt }),
  });
