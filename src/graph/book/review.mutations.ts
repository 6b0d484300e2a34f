import { RATING_MAX, RATING_MIN, REVIEW_MORE_THAN, type ReviewRecord, bookEndpoints } from '../../api/book.ts';
import { type InputBuilder, builder } from '../engine/builder.ts';
import { globalId, sourceIdOf } from '../types/global-id.ts';
import { type Violation, inRange, longerThan, required, validId } from '../errors/violations.ts';
import '../engine/mutation.ts';
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
const DeleteReviewInput = builder.inputType('DeleteReviewInput', {
  description: 'The review to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Global or bare id of the review.' }) }),
});

function reviewFields(t: InputBuilder) {
  return {
    title: t.string({ required: true, description: 'The title, not empty.' }),
    content: t.string({
      required: true,
      description: `The text, more than ${REVIEW_MORE_THAN} characters (code points).`,
    }),
    rating: t.int({ description: `From ${RATING_MIN} to ${RATING_MAX}; unrated by default.` }),
  };
}

const reviewPayload = (name: string, description: string) =>
  builder.objectRef<{ review: ReviewRecord }>(name).implement({
    description,
    fields: (t) => ({
      review: t.field({
        type: Review,
        nullable: true,
        description: 'The review in the response of the service.',
        nullIf: false,
        resolve: ({ review }) => review,
      }),
    }),
  });
const CreateReviewPayload = reviewPayload('CreateReviewPayload', 'The new review.');
const UpdateReviewPayload = reviewPayload('UpdateReviewPayload', 'The updated review.');
const DeleteReviewPayload = builder.objectRef<{ deletedId: string }>('DeleteReviewPayload').implement({
  description: 'The result of deleting a review.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The global id of the deleted review.' }) }),
});

// No operation reads book reviews, so no cache entry becomes stale.
builder.mutationFields((t) => ({
  createReview: t.write({
    endpoint: bookEndpoints.createReview,
    payload: CreateReviewPayload,
    input: CreateReviewInput,
    description: 'Creates a review of a book. `POST /v2/book/reviews`',
    check: (input) => [...validId('bookId', () => sourceIdOf('Book', input.bookId)), ...reviewBroken(input)],
    run: async (write, { bookId, ...input }) => ({
      review: await write(bookEndpoints.createReview, { book: sourceIdOf('Book', bookId), ...draftOf(input) }),
    }),
    invalidates: () => [],
  }),
  updateReview: t.write({
    endpoint: bookEndpoints.updateReview,
    payload: UpdateReviewPayload,
    input: UpdateReviewInput,
    description: 'REPLACES a review of the caller. `PUT /v2/book/review/{id}`',
    check: (input) => [...validId('id', () => sourceIdOf('Review', input.id)), ...reviewBroken(input)],
    run: async (write, { id, ...input }) => ({
      review: await write(bookEndpoints.updateReview, { id: sourceIdOf('Review', id), ...draftOf(input) }),
    }),
    invalidates: () => [],
  }),
  deleteReview: t.write({
    endpoint: bookEndpoints.deleteReview,
    payload: DeleteReviewPayload,
    input: DeleteReviewInput,
    description: 'Deletes a review of the caller. `DELETE /v2/book/review/{id}`',
    check: ({ id }) => validId('id', () => sourceIdOf('Review', id)),
    run: async (write, input) => {
      const id = sourceIdOf('Review', input.id);
      await write(bookEndpoints.deleteReview, { id });
      return { deletedId: globalId('Review', id) };
    },
    invalidates: () => [],
  }),
}));

interface ReviewInput {
  title: string;
  content: string;
  rating?: number | null | undefined;
}

const reviewBroken = ({ title, content, rating }: ReviewInput): Violation[] => [
  ...required('title', title),
  ...longerThan('content', content, REVIEW_MORE_THAN, 'REVIEW_TOO_SHORT'),
  ...inRange('rating', rating, [RATING_MIN, RATING_MAX], 'RATING_OUT_OF_RANGE'),
];

const draftOf = ({ title, content, rating }: ReviewInput) => ({ title, content, rating: rating ?? undefined });
