import { type GivenRating, RATING_MAX, RATING_MIN } from '../../api/book.ts';
import type { Flag } from '../store/database/schema.ts';

/** The `rating` member of a record; absent if unrated. */
export function givenRating(rating: number | null): { rating?: GivenRating } {
  return rating === null ? {} : { rating: { max: RATING_MAX, min: 0, value: String(rating) } };
}

/** A rating from 1 to 5. The interface specifies that any other value means unrated and is not an error. */
export function ratingOrNone(rating: number | undefined): number | null {
  return isRating(rating) ? rating : null;
}

export const isRating = (rating: number | undefined): rating is number =>
  rating !== undefined && Number.isInteger(rating) && rating >= RATING_MIN && rating <= RATING_MAX;

/** Anything but `private` is public. */
export const privateFlag = (privacy: string | undefined): Flag => (privacy === 'private' ? 1 : 0);
