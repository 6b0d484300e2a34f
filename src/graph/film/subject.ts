import {
  BASIC_SEARCH_TOTAL,
  type SubjectRecord,
  filmEndpoints,
  simpleSubject,
  subjectMembers,
} from '../../api/film.ts';
import { builder } from '../engine/builder.ts';
import {
  asInt,
  asObject,
  asText,
  countOrNull,
  countOrZero,
  positiveOrNull,
  siteOrNull,
  text,
  textOrNull,
  textsOrNull,
  urlOrNull,
  urlsOrNull,
} from '../types/decode.ts';
import { badInput } from '../errors/to-client-error.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { Image, imageOf } from '../types/image.ts';
import { type FieldBuilder, Node, recordOrReference, referenceOf, identity } from '../types/node.ts';
import { connectionOf } from '../types/connection.ts';
import { Rating, type RatingShape, averageOf, scaleOf } from '../types/rating.ts';
import { SEARCH_TEXT_MAX, searchText } from '../types/search.ts';

/** A film search by tag reports at most this total, on every tier. */
const TAG_SEARCH_TOTAL = 200;

const SubjectType = builder.enumType('SubjectType', {
  description: 'What kind of film subject it is.',
  values: {
    MOVIE: { value: 'movie', description: 'A movie; also where the service does not say.' },
    TV: { value: 'tv', description: 'A television series.' },
  } as const,
});

export const Subject = builder.objectRef<SubjectRecord>('Subject').implement({
  description:
    'A movie or a television series. A field that the tier of the caller does not get is null, with the error `TIER_REQUIRED`.',
  interfaces: [Node],
  record: {
    endpoint: filmEndpoints.subject,
    input: (id) => ({ id }),
    members: Object.keys(subjectMembers),
    tiers: subjectMembers,
  },
  alternativeNames: { service_site: 'douban_site', douban_site: 'service_site' },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Subject'),
    title: t.reads('title', text, 'In Chinese; empty where the service has none.'),
    originalTitle: t.reads('original_title', textOrNull, 'In its first language.'),
    alternativeTitles: t.reads('aka', textsOrNull, 'Other titles, `aka`; in lists this costs one call an item.'),
    year: t.reads('year', textOrNull, 'As the service writes it, usually four digits.'),
    type: t.field({
      type: SubjectType,
      nullable: true,
      description: 'Movie or series, `subtype`; null for a kind that is neither.',
      needs: ['subtype'],
      resolve: ({ subtype }) => typeFrom(subtype),
    }),
    images: t.field({
      type: Image,
      description: 'The poster: 64x103, 96x155 and 288x465 pixels on paper, often one size for all.',
      needs: ['images'],
      resolve: ({ images }) => imageOf(images),
    }),
    webUrl: t.reads('alt', urlOrNull, 'Its page.'),
    mobileUrl: t.reads('mobile_url', urlOrNull, 'Its page for small screens; in lists this costs one call an item.'),
    websiteUrl: t.reads('website', siteOrNull, 'The official site; advance and premium tiers.'),
    miniSiteUrl: t.reads(
      ['service_site', 'douban_site'],
      siteOrNull,
      'Its site at the service, `service_site` or `douban_site`.',
    ),
    scheduleUrl: t.reads('schedule_url', urlOrNull, 'Where it is shown and when; movies only.'),
    rating: t.field({
      type: Rating,
      description: 'What its raters say, from 0 to 10; its `ratersCount` costs one call an item in lists.',
      needs: ['rating'],
      needsBelow: { ratersCount: ['ratings_count'] },
      resolve: ratingOf,
    }),
    wishCount: t.reads('wish_count', countOrZero, 'How many want to see it.'),
    collectCount: t.reads('collect_count', countOrZero, 'How many have seen it.'),
    doingCount: t.int({
      nullable: true,
      description: 'How many are watching it, `do_count`; null for a movie.',
      needs: ['do_count', 'subtype'],
      resolve: ({ do_count, subtype }) => asInt(do_count) ?? (typeFrom(subtype) === 'tv' ? 0 : null),
    }),
    commentsCount: t.reads('comments_count', countOrZero, 'How many short comments it has.'),
    reviewsCount: t.reads('reviews_count', countOrZero, 'How many reviews it has.'),
    genres: t.reads('genres', textsOrNull, 'At most 3, in Chinese.'),
    countries: t.reads('countries', textsOrNull, 'Where it was made, in Chinese.'),
    languages: t.reads('languages', textsOrNull, 'What is spoken in it, in Chinese; advance and premium tiers.'),
    durations: t.reads(
      'durations',
      textsOrNull,
      'Free text, often with the cut it belongs to: `110分钟(剧场版)`; advance and premium tiers.',
    ),
    releaseDates: t.reads(
      'pubdates',
      textsOrNull,
      'Of a movie its releases, of a series its first airings; free text, often with a place: `2018-04-22(中国大陆)`; advance and premium tiers.',
    ),
    mainlandReleaseDate: t.reads(
      'mainland_pubdate',
      textOrNull,
      'Its release or first airing in mainland China, usually YYYY-MM-DD; advance and premium tiers.',
    ),
    pubdate: t.reads('pubdate', textOrNull, 'The same as `mainlandReleaseDate`; advance and premium tiers.', {
      deprecationReason: 'Compatibility copy of mainlandReleaseDate.',
    }),
    seasonsCount: t.reads('seasons_count', countOrNull, 'Series only.'),
    currentSeason: t.reads('current_season', countOrNull, 'The number of this season, from 1; series only.'),
    episodesCount: t.reads('episodes_count', countOrNull, 'Episodes of this season; series only.'),
    summary: t.reads('summary', textOrNull, 'The plot, plain text; in lists this costs one call an item.'),
    trailerUrls: t.reads('trailer_urls', urlsOrNull, 'At most 4; advance and premium tiers.'),
    clipUrls: t.reads('clip_urls', urlsOrNull, 'At most 4; advance and premium tiers.'),
    blooperUrls: t.reads('blooper_urls', urlsOrNull, 'At most 4; advance and premium tiers.'),
  }),
});

builder.objectField(connectionOf(Subject), 'title', (t) =>
  t.string({
    nullable: true,
    description: 'What the service calls this list: the name of a chart, or the words of a search.',
    resolve: (page) => page.title,
  }),
);

builder.queryField('subject', (t) =>
  t.call({
    type: Subject,
    description: 'The movie or series with this id; null when there is none. `GET /v2/movie/subject/{id}`',
    args: { id: t.arg.id({ required: true, description: 'The id of the subject, global or bare.' }) },
    endpoint: filmEndpoints.subject,
    input: (_, { id }) => ({ id: sourceIdOf('Subject', id) }),
    resolve: (subject) => subject,
  }),
);

builder.queryField('searchSubjects', (t) =>
  t.connection({
    type: Subject,
    pageSize: 20,
    description: 'Movies and series whose text or tag matches; give at least one of the two. `GET /v2/movie/search`',
    args: {
      query: t.arg.string({ description: `Words of a title, at most ${SEARCH_TEXT_MAX} characters (code points).` }),
      tag: t.arg.string({ description: `A tag, at most ${SEARCH_TEXT_MAX} characters (code points).` }),
    },
    endpoint: filmEndpoints.search,
    input: (_, { query, tag }) => {
      const [q, tagged] = [searchText('query', query), searchText('tag', tag)];
      if (q === undefined && tagged === undefined)
        throw badInput('Give at least one of `query` and `tag`.', { argument: 'query' });
      return { q, tag: tagged };
    },
    representation: simpleSubject,
    totalIsCapped: ({ total }, { filmTier }, { tag }) => {
      const counted = asInt(total);
      if (counted === null) return false;
      // A tier that is not known yet may be the basic one.
      const basic = filmTier === null || filmTier === 'basic';
      return (basic && counted === BASIC_SEARCH_TOTAL) || (Boolean(tag?.trim()) && counted === TAG_SEARCH_TOTAL);
    },
  }),
);

/** `subject` of something that carries it in its short form. */
export const embeddedSubject = <Shape extends { subject: SubjectRecord }>(t: FieldBuilder<Shape>) =>
  t.field({
    type: Subject,
    nullable: true,
    description: 'The film; what its short form lacks costs one call an item.',
    representation: simpleSubject,
    needs: ['subject'],
    resolve: ({ subject }) => recordOrReference(subject),
  });

/** `subject` of something that names it by id alone. */
export const namedSubject = <Shape extends { subject_id?: string }>(t: FieldBuilder<Shape>) =>
  t.field({
    type: Subject,
    nullable: true,
    description: 'The film; more than its id costs one call.',
    needs: ['subject_id'],
    resolve: ({ subject_id }) => recordOrReference<SubjectRecord>(null, subject_id),
  });

function typeFrom(subtype: unknown): 'movie' | 'tv' | null {
  const name = asText(subtype).trim() || 'movie';
  return name === 'movie' || name === 'tv' ? name : null;
}

/** A film's rating comes as `average` with `stars` '45' in life, as a whole `value` in full records on paper. */
function ratingOf(subject: SubjectRecord): RatingShape {
  const rating = asObject(subject.rating);
  return {
    average: averageOf(rating.average) ?? averageOf(rating.value),
    ...scaleOf(rating),
    stars: positiveOrNull.decode(rating.stars), // '00' if nobody has rated it
    // A member of its own: read when it is shown, so that its absence costs the rating nothing.
    get ratersCount() {
      return asInt(subject.ratings_count) ?? 0;
    },
  };
}
