import {
  BASIC_SEARCH_TOTAL,
  type SubjectPage,
  type SubjectRecord,
  filmEndpoints,
  simpleSubject,
  subjectMembers,
  useConditions,
} from '../../api/film.ts';
import type { Tier } from '../../api/endpoint.ts';
import { builder } from '../../engine/builder.ts';
import {
  asInt,
  asObject,
  asText,
  countOrNull,
  countOrZero,
  orNull,
  positiveOrNull,
  siteOrNull,
  text,
  textOrNull,
  textsOrNull,
  urlOrNull,
  urlsOrNull,
} from '../../engine/values/decode.ts';
import { attributionOf } from '../types/attribution.ts';
import { imageOrNull } from '../types/image.ts';
import { type FieldBuilder, Node, referenceOf, identity, queryById } from '../../engine/fields/node.ts';
import { connectionOf, edgeOf } from '../../engine/fields/connection.ts';
import { RatingOfFilm, type FilmRatingShape, averageOf, scaleOf } from '../types/rating.ts';
import { SEARCH_TEXT_MAX, searchInput } from '../types/search.ts';
import { WebPage } from '../types/web-page.ts';

/** A film search by tag reports at most this total, on every tier. */
const TAG_SEARCH_TOTAL = 200;

const SubjectType = builder.enumType('SubjectType', {
  description: 'The kind of a film subject.',
  values: {
    MOVIE: { value: 'movie', description: 'A movie; also used if the service states no kind.' },
    TV: { value: 'tv', description: 'A television series.' },
  } as const,
});

export const Subject = builder.objectRef<SubjectRecord>('Subject').implement({
  noun: 'film',
  description:
    "A movie or a television series. A field that the caller's tier does not include is null, with the error `TIER_REQUIRED`.",
  interfaces: [Node, WebPage],
  record: {
    endpoint: filmEndpoints.subject,
    input: (id) => ({ id }),
    members: Object.keys(subjectMembers),
  },
  alternatives: { service_site: 'douban_site', douban_site: 'service_site' },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Subject'),
    title: t.reads('title', text, 'The title in Chinese; empty if the service has none.'),
    originalTitle: t.reads('original_title', textOrNull, 'The title in the original language.'),
    alternativeTitles: t.reads('aka', textsOrNull, 'Other titles.'),
    year: t.reads('year', textOrNull, 'The year in the format of the service, usually four digits.'),
    subjectType: t.reads(
      'subtype',
      orNull(SubjectType, typeFrom, 'it is of another kind'),
      'Whether it is a movie or a television series.',
    ),
    poster: t.reads(
      'images',
      imageOrNull,
      'The poster: 64x103, 96x155 and 288x465 pixels as specified, in practice often one size for all.',
    ),
    webUrl: t.reads('alt', urlOrNull, 'The web page of the film.'),
    mobileUrl: t.reads('mobile_url', urlOrNull, 'The web page for small screens.'),
    websiteUrl: t.reads('website', siteOrNull, 'The official site; advance and premium tiers.'),
    miniSiteUrl: t.reads(['service_site', 'douban_site'], siteOrNull, 'The site of the film at the service.'),
    scheduleUrl: t.reads('schedule_url', urlOrNull, 'The page with the show times; movies only.'),
    rating: t.computed({
      type: RatingOfFilm,
      nullable: true,
      nullIf: false,
      description: 'The rating by all users, from 0 to 10.',
      needs: ['rating'],
      needsBelow: { ratersCount: ['ratings_count'], attribution: ['alt'] },
      resolve: ratingOf,
    }),
    attribution: attributionOf(t, 'film'),
    wishCount: t.reads('wish_count', countOrZero, 'The number of people who want to see it.'),
    collectCount: t.reads('collect_count', countOrZero, 'The number of people who have seen it.'),
    doingCount: t.computed({
      type: 'Int',
      nullable: true,
      description: 'The number of people who are watching it.',
      nullIf: 'it is a movie',
      needs: ['do_count', 'subtype'],
      upstream: '`do_count`',
      resolve: ({ do_count, subtype }) => asInt(do_count) ?? (typeFrom(subtype) === 'tv' ? 0 : null),
    }),
    commentsCount: t.reads('comments_count', countOrZero, 'The number of short comments.'),
    reviewsCount: t.reads('reviews_count', countOrZero, 'The number of reviews.'),
    genres: t.reads('genres', textsOrNull, 'The genres in Chinese, at most 3.'),
    countries: t.reads('countries', textsOrNull, 'The countries of production, in Chinese.'),
    languages: t.reads('languages', textsOrNull, 'The spoken languages, in Chinese; advance and premium tiers.'),
    durations: t.reads(
      'durations',
      textsOrNull,
      'The durations, free text, often with the name of the cut: `110分钟(剧场版)`; advance and premium tiers.',
    ),
    releaseDates: t.reads(
      'pubdates',
      textsOrNull,
      'The release dates of a movie or the first airings of a series; free text, often with a place: `2018-04-22(中国大陆)`; advance and premium tiers.',
    ),
    mainlandReleaseDate: t.reads(
      'mainland_pubdate',
      textOrNull,
      'The date of the release or first airing in mainland China; usually YYYY-MM-DD; advance and premium tiers.',
    ),
    pubdate: t.reads('pubdate', textOrNull, 'The same as `mainlandReleaseDate`; advance and premium tiers.', {
      deprecationReason: 'Compatibility copy of mainlandReleaseDate.',
    }),
    seasonsCount: t.reads('seasons_count', countOrNull, 'The number of seasons; series only.'),
    currentSeason: t.reads('current_season', countOrNull, 'The number of this season, from 1; series only.'),
    episodesCount: t.reads('episodes_count', countOrNull, 'The number of episodes of this season; series only.'),
    summary: t.reads('summary', textOrNull, 'The plot, plain text.'),
    trailerUrls: t.reads('trailer_urls', urlsOrNull, 'The trailers, at most 4; advance and premium tiers.'),
    clipUrls: t.reads('clip_urls', urlsOrNull, 'The clips, at most 4; advance and premium tiers.'),
    blooperUrls: t.reads('blooper_urls', urlsOrNull, 'The bloopers, at most 4; advance and premium tiers.'),
  }),
});

builder.objectField(connectionOf(Subject), 'title', (t) =>
  t.string({
    nullable: true,
    description: 'The title of this list: the name of a chart, or the words of a search.',
    nullIf: 'the service has none',
    needsNoItems: true,
    resolve: (page) => page.title,
  }),
);

builder.objectField(edgeOf(Subject), 'rank', (t) =>
  t.int({
    nullable: true,
    description: 'The rank of the film in the list, from 1.',
    nullIf: 'the list is no ranking: only `top250` is',
    resolve: ({ page, index }) => (page.isRanked ? page.start + index + 1 : null),
  }),
);

queryById(Subject, filmEndpoints.subject, 'A movie or television series by id.', '1292052');

builder.queryField('searchSubjects', (t) =>
  t.connection({
    type: Subject,
    description:
      'Movies and television series whose text or tag matches, in the order of the service. Give at least one of `query` and `tag`.',
    args: {
      query: t.arg.string({ description: `Words of the title, at most ${SEARCH_TEXT_MAX} characters (code points).` }),
      tag: t.arg.string({ description: `A tag, at most ${SEARCH_TEXT_MAX} characters (code points).` }),
    },
    endpoint: filmEndpoints.search,
    input: (_, args) => searchInput(args),
    representation: simpleSubject,
    totalIsCapped: (page, viewer, { tag }) => isCappedSearch(page, viewer, Boolean(tag?.trim())),
  }),
);

/** Whether a film search stopped counting at its total. */
export function isCappedSearch(
  { total }: SubjectPage,
  { filmTier }: { filmTier: Tier | null },
  isByTag: boolean,
): boolean {
  const counted = asInt(total);
  if (counted === null) return false;
  // An unknown tier may be the basic one.
  const basic = filmTier === null || filmTier === 'basic';
  return (basic && counted === BASIC_SEARCH_TOTAL) || (isByTag && counted === TAG_SEARCH_TOTAL);
}

/** `subject` of an object that contains its short representation. */
export const embeddedSubject = (t: Pick<FieldBuilder<{ subject: SubjectRecord }>, 'record'>) =>
  t.record(
    Subject,
    { member: 'subject' },
    'The film. Fields that its short representation does not provide cost one call for each item.',
    { representation: simpleSubject },
  );

/** Beside the list of a film's things stands the film, in its short representation. */
export const besideFilm = {
  provides: {
    ...simpleSubject,
    read: ({ subject }: { subject?: SubjectRecord }) => subject,
  },
  backReference: 'subject',
};

/** `subject` of an object that contains only its id. */
export const namedSubject = (t: Pick<FieldBuilder<{ subject_id?: string }>, 'record'>) =>
  t.record(Subject, { id: 'subject_id' }, 'The film. Fields other than the id cost one call.');

function typeFrom(subtype: unknown): 'movie' | 'tv' | null {
  const name = asText(subtype).trim() || 'movie';
  return name === 'movie' || name === 'tv' ? name : null;
}

/** The real service sends `average` and `stars` ('45'); full records of the specification have an integer `value`. */
function ratingOf(subject: Pick<SubjectRecord, 'alt' | 'rating' | 'ratings_count'>): FilmRatingShape {
  const rating = asObject(subject.rating);
  return {
    average: averageOf(rating.average) ?? averageOf(rating.value),
    ...scaleOf(rating),
    stars: starsOf(rating.stars),
    // Getters, so that a missing member fails only its field and not the whole rating.
    get ratersCount() {
      return asInt(subject.ratings_count) ?? 0;
    },
    get attribution() {
      return { condition: useConditions.rating, url: subject.alt };
    },
  };
}

/** The service sends tenths of a star, '45', and '00' if nobody has rated the film. */
function starsOf(tenths: unknown): number | null {
  const stars = positiveOrNull.decode(tenths);
  return stars === null ? null : stars / 10;
}
