import { RATING_MAX, RATING_MIN, REVIEW_MORE_THAN, bookEndpoints } from '../../api/book.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { type Violation, inRange, longerThan, required } from '../errors/violations.ts';
import { deletion, recordPayload } from '../types/write.ts';
import { Review } from './review.ts';

const CreateReviewInput = builder.inputType('CreateReviewInput', {
  description: 'The review to create.',
  fields: (t) => ({
    bookId: t.id({ required: true, description: 'Global or bare id of the book.' }),
    ...reviewFields(t),
  }),
});
const UpdateReviewInput = builder.inputType('UpdateReviewInput', {
  description: 'The new values of a review. REPLACES all of it: a rating left out is cleared.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Global or bare id of the review.' }),
    ...reviewFields(t),
  }),
});

function reviewFields(t: InputBuilder) {
  return {
    title: t.string({ required: true, description: 'The title, not empty.' }),
    content: t.string({
      required: true,
      description: `The text, more than ${REVIEW_MORE_THAN} characters (code points).`,
    }),
    rating: t.int({ description: `The rating, from ${RATING_MIN} to ${RATING_MAX}; unrated by default.` }),
  };
}

// No operation reads book reviews, so no cache entry becomes stale.
builder.mutationFields((t) => ({
  createReview: t.write({
    endpoint: bookEndpoints.createReview,
    payload: recordPayload('CreateReviewPayload', 'The new review.', 'review', Review),
    input: CreateReviewInput,
    target: ['bookId', 'Book'],
    description: 'Creates a review of a book. `POST /v2/book/reviews`',
    check: reviewBroken,
    run: async ({ write, id }, input) => ({
      review: await write(bookEndpoints.createReview, { book: id, ...draftOf(input) }),
    }),
    invalidates: () => [],
  }),
  updateReview: t.write({
    endpoint: bookEndpoints.updateReview,
    payload: recordPayload('UpdateReviewPayload', 'The updated review.', 'review', Review),
    input: UpdateReviewInput,
    target: ['id', 'Review'],
    description: 'REPLACES a review of the caller. `PUT /v2/book/review/{id}`',
    check: reviewBroken,
    run: async ({ write, id }, input) => ({
      review: await write(bookEndpoints.updateReview, { id, ...draftOf(input) }),
    }),
    invalidates: () => [],
  }),
  deleteReview: t.write(
    deletion('Review', bookEndpoints.deleteReview, 'Deletes a review of the caller. `DELETE /v2/book/review/{id}`', {
      invalidates: () => [],
    }),
  ),
}));

type ReviewInput = Omit<typeof CreateReviewInput.$inferInput, 'bookId'>;

const reviewBroken = ({ title, content, rating }: ReviewInput): (Violation | undefined)[] => [
  required('title', title),
  longerThan('content', content, REVIEW_MORE_THAN, 'REVIEW_TOO_SHORT'),
  inRange('rating', rating, [RATING_MIN, RATING_MAX], 'RATING_OUT_OF_RANGE'),
];

const draftOf = ({ title, content, rating }: ReviewInput) => ({ title, content, rating: rating ?? undefined });
