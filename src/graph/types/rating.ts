import { builder } from '../../engine/builder.ts';
import { Attribution, type AttributionShape } from './attribution.ts';
import type { FieldBuilder } from '../../engine/fields/node.ts';
import { asFloat, asInt, asObject, orNull } from '../../engine/values/decode.ts';

/** The rating by all people, decoded from books and films alike. */
export interface RatingShape {
  average: number | null;
  max: number;
  min: number;
  ratersCount: number | null;
}
export interface FilmRatingShape extends RatingShape {
  stars: number | null;
  attribution: AttributionShape;
}
/** The rating by one person. */
interface UserRatingShape {
  value: number;
  max: number;
  min: number;
}

const Rating = builder.interfaceRef<RatingShape>('Rating').implement({
  description: 'The rating by all people.',
  fields: (t) => ({
    average: t.float({ nullable: true, description: 'The average, from `min` to `max`. Null if nobody has rated.' }),
    max: t.int({ description: 'The best possible rating.' }),
    min: t.int({ description: 'The worst possible rating.' }),
    ratersCount: t.int({
      nullable: true,
      description: 'The number of people who have rated. Null if the service does not return it.',
    }),
  }),
});

const ratingFields = (t: FieldBuilder<RatingShape>, countedBy: string) => ({
  average: t.exposeFloat('average', {
    nullable: true,
    description: 'The average rating, from `min` to `max`, with one decimal.',
    nullIf: 'nobody has rated',
  }),
  max: t.exposeInt('max', { description: 'The best possible rating; 10 if the service does not return it.' }),
  min: t.exposeInt('min', { description: 'The worst possible rating; 0 if the service does not return it.' }),
  ratersCount: t.exposeInt('ratersCount', {
    nullable: true,
    description: 'The number of people who have rated.',
    upstream: `\`${countedBy}\``,
    nullIf: 'the service does not return it',
  }),
});

export const RatingOfBook = builder.objectRef<RatingShape>('BookRating').implement({
  description: 'The rating of a book by all readers.',
  interfaces: [Rating],
  fields: (t) => ratingFields(t, 'numRaters'),
});

export const RatingOfFilm = builder.objectRef<FilmRatingShape>('FilmRating').implement({
  description: 'The rating of a film by all people.',
  interfaces: [Rating],
  fields: (t) => ({
    ...ratingFields(t as unknown as FieldBuilder<RatingShape>, 'ratings_count'),
    stars: t.exposeFloat('stars', {
      nullable: true,
      description: 'The average rating in stars, from 0.5 to 5 in steps of 0.5: 4.5 is four and a half stars.',
      nullIf: 'nobody has rated',
    }),
    attribution: t.field({
      type: Attribution,
      description: 'How the rating must be shown under the conditions of use of the service.',
      resolve: ({ attribution }) => attribution,
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
