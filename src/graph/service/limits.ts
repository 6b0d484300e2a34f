/** The limits of the service as data. Every value is the constant that the rules enforce. */
import * as books from '../../api/book.ts';
import { type Tier, tiers } from '../../api/endpoint.ts';
import { FEED_COUNT_MAX } from '../../api/event.ts';
import * as films from '../../api/film.ts';
import { NOTE_PICTURES_MAX } from '../../api/note.ts';
import { isLimited } from '../../upstream/auth/viewer.ts';
import { TAGS_GIVEN_MAX } from '../book/collection.mutations.ts';
import { builder } from '../../engine/builder.ts';
import { FilmTier } from '../types/film-tier.ts';
import { FIRST_MAX } from '../../engine/values/paging.ts';
import { PICTURE_NUMBER_MAX } from '../../engine/fields/picture-upload.ts';
import { SEARCH_TEXT_MAX } from '../types/search.ts';

/** A type whose fields are constants, each with its value in its description. */
const constants = (name: string, description: string, values: Record<string, readonly [number, string]>) =>
  builder.objectRef<object>(name).implement({
    description,
    fields: (t) =>
      Object.fromEntries(
        Object.entries(values).map(([field, [value, text]]) => [
          field,
          t.int({ description: `${text.replace(/\.$/, '')}: ${value.toLocaleString('en')}.`, resolve: () => value }),
        ]),
      ),
  });

const BookLimits = constants('BookLimits', 'Limits of books and of what readers write about them.', {
  listCountMax: [
    books.COUNT_MAX,
    'The most items that one request for a list of books, collections or annotations returns.',
  ],
  listCountDefault: [
    books.COUNT_DEFAULT,
    'The items that one request for a list of books, collections or annotations returns without `count`.',
  ],
  searchStartDefault: [books.START_DEFAULT, 'The position at which a search begins if it has no `start`.'],
  tagsMax: [books.TAGS_MAX, 'The most tags that the service lists for one book.'],
  reviewContentMinLength: [books.REVIEW_MORE_THAN + 1, 'The fewest characters of a review.'],
  collectionCommentMaxLength: [books.COMMENT_MAX, 'The most characters of the comment of a collection.'],
  collectionTagsMax: [TAGS_GIVEN_MAX, 'The most tags of a collection, by a rule of this graph.'],
  ratingMin: [books.RATING_MIN, 'The lowest rating of a collection or a review.'],
  ratingMax: [books.RATING_MAX, 'The highest rating of a collection or a review.'],
  annotationContentMinLength: [books.ANNOTATION_MORE_THAN + 1, 'The fewest characters of an annotation.'],
  annotationPageMin: [1, 'The lowest page of an annotation.'],
  annotationPageMax: [books.PAGE_BELOW - 1, 'The highest page of an annotation.'],
  annotationChapterMaxLength: [books.CHAPTER_MAX, 'The most characters of the chapter of an annotation.'],
});

const EventLimits = constants('EventLimits', 'Limits of events.', {
  listCountMax: [FEED_COUNT_MAX, 'The most items in a page of events or of their people, whatever `first` is.'],
});

const FilmLimits = constants('FilmLimits', 'Limits of films and film people.', {
  castsMax: [films.RECORD_CASTS, 'The most people in `casts` of a film.'],
  genresMax: [films.RECORD_GENRES, 'The most genres of a film.'],
  trailersMax: [films.RECORD_URLS, 'The most trailers of a film.'],
  clipsMax: [films.RECORD_URLS, 'The most clips of a film.'],
  bloopersMax: [films.RECORD_URLS, 'The most bloopers of a film.'],
  subjectPhotosMax: [
    films.RECORD_PHOTOS,
    'The photos of a film that its record contains, so that they cost no further call.',
  ],
  subjectReviewsMax: [
    films.RECORD_REVIEWS,
    'The reviews of a film that its record contains, so that they cost no further call.',
  ],
  celebrityWorksMax: [
    films.RECORD_WORKS,
    'The works of a person that the record of the person contains, so that they cost no further call.',
  ],
  celebrityPhotosMax: [
    films.RECORD_PHOTOS,
    'The photos of a person that the record of the person contains, so that they cost no further call.',
  ],
  basicSearchTotalMax: [films.BASIC_SEARCH_TOTAL, 'The largest total that a search reports to the basic tier.'],
  reviewSummaryMaxLength: [films.REVIEW_SUMMARY_MAX, 'The most characters of the summary of a review.'],
  commentContentMaxLength: [films.FILM_COMMENT_MAX, 'The most characters of a short comment.'],
});

const PictureLimits = constants('PictureLimits', 'Limits of the pictures of annotations and notes.', {
  maxBytes: [books.PICTURE_BELOW - 1, 'The most bytes of one picture.'],
  numberMax: [PICTURE_NUMBER_MAX, 'The highest number of a picture.'],
  perNoteRequest: [
    NOTE_PICTURES_MAX,
    'The most pictures of a note that one request to the service holds, so that more are sent in further requests.',
  ],
});

builder.objectField(PictureLimits, 'perMutation', (t) =>
  t.int({
    description: 'The most pictures of one mutation, by a rule of this graph.',
    resolve: (_, __, { maxPictures }) => maxPictures,
  }),
);

const RateLimit = builder.objectRef<{ tier: Tier }>('RateLimit').implement({
  description: 'The rate limit of a film tier.',
  fields: (t) => ({
    tier: t.expose('tier', { type: FilmTier, description: 'The tier.' }),
    callsPerMinute: t.int({
      nullable: true,
      description: `The film calls that one token may make in a minute: ${films.BASIC_CALLS_A_MINUTE} on the basic tier.`,
      nullIf: 'no limit is known',
      resolve: ({ tier }) => callsAMinuteOf(tier),
    }),
  }),
});

/** The limit that the rate limiter applies to a client's token of this tier. */
const callsAMinuteOf = (tier: Tier): number | null =>
  isLimited({ possibleTiers: [tier] }) ? films.BASIC_CALLS_A_MINUTE : null;

export const ServiceLimits = constants(
  'ServiceLimits',
  'The limits of the service and of this graph. All bounds are inclusive. Characters are code points: an emoji may be ' +
    'one, while its `length` in JavaScript is two.',
  {
    firstMax: [FIRST_MAX, 'The largest `first` of a connection.'],
    searchTextMaxLength: [SEARCH_TEXT_MAX, 'The most characters of the text of a search.'],
  },
);

builder.objectFields(ServiceLimits, (t) => ({
  book: t.field({ type: BookLimits, description: 'Books, reviews, collections, annotations.', resolve: () => ({}) }),
  event: t.field({ type: EventLimits, description: 'Events.', resolve: () => ({}) }),
  film: t.field({ type: FilmLimits, description: 'Films and film people.', resolve: () => ({}) }),
  pictures: t.field({ type: PictureLimits, description: 'Pictures of annotations and notes.', resolve: () => ({}) }),
  rates: t.field({
    type: [RateLimit],
    description: 'The rate limit of each film tier.',
    assumedSize: tiers.length,
    resolve: () => tiers.map((tier) => ({ tier })),
  }),
}));
