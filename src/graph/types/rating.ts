import { builder } from '../engine/builder.ts';
import { asFloat, asInt, asObject } from './decode.ts';

/** What all raters together say, as either slice decodes it. */
export interface RatingShape {
  average: number | null;
  max: number;
  min: number;
  stars: number | null;
  ratersCount: number | null;
}
/** What one person says. */
export interface UserRatingShape {
  value: number;
  max: number;
  min: number;
}

export const Rating = builder.objectRef<RatingShape>('Rating').implement({
  description: 'What all raters together say.',
  fields: (t) => ({
    average: t.exposeFloat('average', {
      nullable: true,
      description: 'From `min` to `max`, one decimal; null when nobody has rated.',
    }),
    max: t.exposeInt('max', { description: 'The best there is; 10 where the service does not say.' }),
    min: t.exposeInt('min', { description: 'The worst there is; 0 where the service does not say.' }),
    stars: t.exposeInt('stars', {
      nullable: true,
      description: 'The average as stars, 0 to 50 in steps of 5; films only, null for books and when nobody has rated.',
    }),
    ratersCount: t.int({
      nullable: true,
      description: 'How many people have rated: `numRaters` of a book, `ratings_count` of a film.',
      // Reading it may throw, which compiled code catches in a resolver alone: a member it would read by itself.
      resolve: (rating) => rating.ratersCount,
    }),
  }),
});

export const UserRating = builder.objectRef<UserRatingShape>('UserRating').implement({
  description: 'What one person says.',
  fields: (t) => ({
    value: t.exposeInt('value', { description: 'From 1 to `max`.' }),
    max: t.exposeInt('max', { description: 'The best there is, usually 5.' }),
    min: t.exposeInt('min', { description: 'The worst there is, usually 0, which itself stands for not rated.' }),
  }),
});

/** One person's rating; a value of 0 is "not rated", so null. The value is a text in books and a float in films. */
export function userRating(given: unknown): UserRatingShape | null {
  const { value, max, min } = asObject(given as { value?: unknown; max?: unknown; min?: unknown } | null);
  const stars = asInt(value);
  if (stars === null || stars <= 0) return null;
  return { value: stars, max: asInt(max) ?? 5, min: asInt(min) ?? 0 };
}

/** The scale that a rating stands on; 0 to 10 where the service does not say. */
export const scaleOf = ({ max, min }: { max?: unknown; min?: unknown }) => ({
  max: asInt(max) ?? 10,
  min: asInt(min) ?? 0,
});

/** An average that somebody gave: a text in books, a float or a whole number in films; 0 is nobody's. */
export function averageOf(average: unknown): number | null {
  const number = asFloat(average);
  return number !== null && number > 0 ? number : null;
}
