import { type GivenRating, RATING_MAX, RATING_MIN } from '../../contract/book.ts';
import { Refusal } from './refusal.ts';

/** The `rating` member of a record; no member where nobody has rated. */
export function givenRating(rating: number | null): { rating?: GivenRating } {
  return rating === null ? {} : { rating: { max: RATING_MAX, min: 0, value: String(rating) } };
}

/** One to five, or none. */
export function checkedRating(rating: number | undefined): number | null {
  if (rating === undefined) return null;
  if (!Number.isInteger(rating) || rating < RATING_MIN || rating > RATING_MAX) throw new Refusal(999);
  return rating;
}

/** Anything but `private` is public. */
export const isPrivate = (privacy: string | undefined) => privacy === 'private';
