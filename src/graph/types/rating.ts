import { builder } from '../../engine/builder.ts';
import { Attribution, type AttributionShape } from './attribution.ts';
import { asFloat, asInt, asObject, orNull } from '../../engine/values/decode.ts';

/** The rating by all people, decoded from books and films alike. */
export interface RatingShape {
  average: number | null;
  max: number;
  min: number;
  stars: number | null;
  ratersCount: number | null;
  /** Only ratings of films have it. */
  attribution?: AttributionShape;
}
/** The rating by one person. */
export interface UserRatingShape {
  value: number;
  max: number;
  min: number;
}

export const Rating = builder.objectRef<RatingShape>('Rating').implement({
  description: 'The rating by all people.',
  fields: (t) => ({
    average: t.exposeFloat('average', {
      nullable: true,
      description: 'The average rating, from `min` to `max`, with one decimal.',
      nullIf: 'nobody has rated',
    }),
    max: t.exposeInt('max', { description: 'The best possible rating; 10 if the service does not return it.' }),
    min: t.exposeInt('min', { description: 'The worst possible rating; 0 if the service does not return it.' }),
    stars: t.exposeInt('stars', {
      nullable: true,
      description:
        'The average rating of a film in tenths of a star, from 5 to 50 in steps of 5: 45 is four and a half stars.',
      nullIf: 'nobody has rated, or it is the rating of a book',
    }),
    ratersCount: t.exposeInt('ratersCount', {
      nullable: true,
      description: 'The number of people who have rated: `numRaters` of a book, `ratings_count` of a film.',
      nullIf: 'the service does not return it',
    }),
    attribution: t.field({
      type: Attribution,
      nullable: true,
      description: 'How the rating of a film must be shown under the conditions of use of the service.',
      nullIf: 'it is the rating of a book',
      resolve: ({ attribution }) => attribution ?? null,
    }),
  }),
});

const UserRating = builder.objectRef<UserRatingShape>('UserRating').implement({
  description: 'The rating by one person.',
  fields: (t) => ({
    value: t.exposeInt('value', { description: 'The rating, from 1 to `max`.' }),
    max: t.exposeInt('max', { description: 'The best possible rating, usually 5.' }),
    min: t.exposeInt('min', { description: 'The lower end of the scale, usually 0, which itself means not rated.' }),
  }),
});

/** The rating by one person; null for 0, which means not rated. The value is a text in books and a float in films. */
export const ratingBy = orNull(UserRating, userRating, 'unrated');

export function userRating(given: unknown): UserRatingShape | null {
  const { value, max, min } = asObject(given as { value?: unknown; max?: unknown; min?: unknown } | null);
  const stars = asInt(value);
  if (stars === null || stars <= 0) return null;
  return { value: stars, max: asInt(max) ?? 5, min: asInt(min) ?? 0 };
}

/** The scale of a rating; 0 to 10 if the service does not return it. */
export const scaleOf = ({ max, min }: { max?: unknown; min?: unknown }) => ({
  max: asInt(max) ?? 10,
  min: asInt(min) ?? 0,
});

/** An average: a text in books, a float or an integer in films; null for 0, which means that nobody has rated. */
export function averageOf(average: unknown): number | null {
  const number = asFloat(average);
  return number !== null && number > 0 ? number : null;
}
