import {
  type BoxOffice,
  type BoxOfficeItem,
  type NewMovies,
  type Weekly,
  type WeeklyItem,
  filmEndpoints,
  simpleSubject,
} from '../../api/film.ts';
import { builder } from '../engine/builder.ts';
import { asInt, asObjects, asRecords, countOrNull, flag, textOrNull } from '../types/decode.ts';
import { searchText } from '../types/search.ts';
import { Subject, embeddedSubject } from './subject.ts';

/** Entries that a chart may have, for the cost of what is asked of each. */
const CHART_SIZE = 20;

const SubjectChart = builder.objectRef<NewMovies>('SubjectChart').implement({
  description: 'A chart of films, in its own order.',
  isWrapper: true,
  fields: (t) => ({
    title: t.string({
      nullable: true,
      description: 'What the service calls it.',
      resolve: ({ title }) => textOrNull.decode(title),
    }),
    subjects: t.field({
      type: [Subject],
      description: 'The films, in the order of the chart.',
      representation: simpleSubject,
      resolve: ({ subjects }) => asRecords(subjects),
    }),
  }),
});

const BoxOfficeEntry = builder.objectRef<BoxOfficeItem>('BoxOfficeEntry').implement({
  description: 'A film at its place in the box office chart.',
  fields: (t) => ({
    rank: t.int({ description: 'From 1.', needs: ['rank'], resolve: ({ rank }) => asInt(rank) ?? 0 }),
    grossUsd: t.reads('box', countOrNull, 'What it took in the dates of the chart, `box`, in US dollars.'),
    isNew: t.reads('new', flag, 'Whether it was not on the last chart.'),
    subject: embeddedSubject(t),
  }),
});

const BoxOfficeChart = builder.objectRef<BoxOffice>('BoxOfficeChart').implement({
  description: 'What films took at the North American box office.',
  isWrapper: true,
  fields: (t) => ({
    title: t.string({
      nullable: true,
      description: 'What the service calls it.',
      resolve: ({ title }) => textOrNull.decode(title),
    }),
    dateRange: t.string({
      nullable: true,
      description: 'The days it counts, `date`, as the service writes them: `7月27日 - 7月29日`.',
      resolve: ({ date }) => textOrNull.decode(date),
    }),
    entries: t.field({
      type: [BoxOfficeEntry],
      description: 'By rank.',
      resolve: ({ subjects }) => asObjects(subjects),
    }),
  }),
});

const WeeklyEntry = builder.objectRef<WeeklyItem>('WeeklyEntry').implement({
  description: 'A film at its place in the weekly chart.',
  fields: (t) => ({
    rank: t.int({ description: 'From 1.', needs: ['rank'], resolve: ({ rank }) => asInt(rank) ?? 0 }),
    delta: t.reads('delta', countOrNull, 'Places won since the last chart; negative when it fell.'),
    subject: embeddedSubject(t),
  }),
});

const WeeklyChart = builder.objectRef<Weekly>('WeeklyChart').implement({
  description: 'The films best spoken of this week.',
  isWrapper: true,
  fields: (t) => ({
    title: t.string({
      nullable: true,
      description: 'What the service calls it.',
      resolve: ({ title }) => textOrNull.decode(title),
    }),
    entries: t.field({ type: [WeeklyEntry], description: 'By rank.', resolve: ({ subjects }) => asObjects(subjects) }),
  }),
});

builder.queryFields((t) => ({
  top250: t.connection({
    type: Subject,
    pageSize: 10,
    description: 'The 250 best films by their ratings, best first; basic and advance tiers. `GET /v2/movie/top250`',
    endpoint: filmEndpoints.top250,
    input: () => ({}),
    representation: simpleSubject,
  }),
  usBoxOffice: t.call({
    type: BoxOfficeChart,
    description: 'The latest North American box office; basic and advance tiers. `GET /v2/movie/us_box`',
    endpoint: filmEndpoints.usBox,
    input: () => ({}),
    assumedSize: CHART_SIZE,
    resolve: (chart) => chart,
  }),
  weeklyChart: t.call({
    type: WeeklyChart,
    description: 'The chart of the week; advance tier. `GET /v2/movie/weekly`',
    endpoint: filmEndpoints.weekly,
    input: () => ({}),
    assumedSize: CHART_SIZE,
    resolve: (chart) => chart,
  }),
  newMovies: t.call({
    type: SubjectChart,
    description: 'New films that people like; advance tier. `GET /v2/movie/new_movies`',
    endpoint: filmEndpoints.newMovies,
    input: () => ({}),
    representation: simpleSubject,
    assumedSize: CHART_SIZE,
    resolve: (chart) => chart,
  }),
  inTheaters: t.connection({
    type: Subject,
    pageSize: 20,
    description: 'The films now in the cinemas of a city; advance and premium tiers. `GET /v2/movie/in_theaters`',
    args: {
      city: t.arg.string({
        description: 'The Chinese name of the city or its number; without it, a city that the service chooses.',
      }),
    },
    endpoint: filmEndpoints.inTheaters,
    input: (_, { city }) => ({ city: searchText('city', city) }),
    // A Subject on paper, a Simple Subject in life.
    representation: simpleSubject,
  }),
  comingSoon: t.connection({
    type: Subject,
    pageSize: 20,
    description: 'The films that cinemas will show. `GET /v2/movie/coming_soon`',
    endpoint: filmEndpoints.comingSoon,
    input: () => ({}),
    representation: simpleSubject,
  }),
}));
