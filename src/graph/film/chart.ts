import {
  type BoxOffice,
  type BoxOfficeItem,
  type NewMovies,
  type Ranked,
  type Weekly,
  type WeeklyItem,
  filmEndpoints,
  simpleSubject,
} from '../../api/film.ts';
import { builder } from '../../engine/builder.ts';
import { asObjects, asRecords, count, countOrNull, flag, textOrNull } from '../../engine/values/decode.ts';
import { badInput } from '../../engine/errors/to-client-error.ts';
import { isSourceId, keyInGlobalId, nameInKey } from '../../engine/values/global-id.ts';
import { searchText } from '../types/search.ts';
import { Subject, embeddedSubject } from './subject.ts';

/** Numbers of entries of a chart, for the cost estimate: the most, and as many as there usually are. */
const CHART_SIZE = { assumedSize: 20, usualSize: 10 };

const ChartEntry = builder.interfaceRef<object>('ChartEntry').implement({
  description: 'A film in a chart, with its rank.',
  fields: (t) => ({
    rank: t.int({ description: 'The rank in the chart, from 1.' }),
    subject: t.field({ type: Subject, nullable: true, description: 'The film. Null if the service names none.' }),
  }),
});

const Chart = builder.interfaceRef<object>('Chart').implement({
  description: 'A chart of films.',
  fields: (t) => ({
    title: t.string({ nullable: true, description: 'The title of the chart. Null if the service has none.' }),
    entries: t.field({ type: [ChartEntry], description: 'The entries by rank.' }),
  }),
});

const SubjectChartEntry = builder.objectRef<Ranked>('SubjectChartEntry').implement({
  description: 'A film in a chart that the service gives no ranks.',
  interfaces: [ChartEntry],
  // The items of the list are the films themselves.
  isWrapper: true,
  fields: (t) => ({
    rank: t.int({ description: 'The place in the chart, from 1.', resolve: ({ rank }) => rank }),
    subject: t.field({
      type: Subject,
      nullable: true,
      description: 'The film.',
      representation: simpleSubject,
      isItem: true,
      resolve: ({ subject }) => subject,
    }),
  }),
});

const SubjectChart = builder.objectRef<NewMovies>('SubjectChart').implement({
  description: 'A chart of films to which the service gives no ranks.',
  isWrapper: true,
  interfaces: [Chart],
  fields: (t) => ({
    entries: t.field({
      type: [SubjectChartEntry],
      description: 'The films, each with its place.',
      resolve: ({ subjects }) => asRecords(subjects).map((subject, index) => ({ rank: index + 1, subject })),
    }),
    title: t.reads('title', textOrNull, 'The title of the chart.'),
    subjects: t.field({
      type: [Subject],
      description: 'The films, in the order of the chart.',
      representation: simpleSubject,
      resolve: ({ subjects }) => asRecords(subjects),
    }),
  }),
});

const BoxOfficeEntry = builder.objectRef<BoxOfficeItem>('BoxOfficeEntry').implement({
  description: 'A film in the box office chart, with its rank.',
  interfaces: [ChartEntry],
  fields: (t) => ({
    rank: t.reads('rank', count, 'The rank in the chart, from 1.'),
    grossUsd: t.reads('box', countOrNull, 'The gross in the days of the chart, in US dollars.'),
    isNew: t.reads('new', flag, 'Whether the film is new in the chart.'),
    subject: embeddedSubject(t),
  }),
});

const BoxOfficeChart = builder.objectRef<BoxOffice>('BoxOfficeChart').implement({
  description: 'The North American box office: films by their gross.',
  isWrapper: true,
  interfaces: [Chart],
  fields: (t) => ({
    title: t.reads('title', textOrNull, 'The title of the chart.'),
    dateRange: t.reads('date', textOrNull, 'The days of the chart, in the format of the service: `7月27日 - 7月29日`.'),
    entries: t.field({
      type: [BoxOfficeEntry],
      description: 'The entries by rank.',
      resolve: ({ subjects }) => asObjects(subjects),
    }),
  }),
});

const WeeklyEntry = builder.objectRef<WeeklyItem>('WeeklyEntry').implement({
  description: 'A film in the weekly chart, with its rank.',
  interfaces: [ChartEntry],
  fields: (t) => ({
    rank: t.reads('rank', count, 'The rank in the chart, from 1.'),
    delta: t.reads('delta', countOrNull, 'The ranks gained since the last chart; negative if the film fell.'),
    subject: embeddedSubject(t),
  }),
});

const WeeklyChart = builder.objectRef<Weekly>('WeeklyChart').implement({
  description: 'The most praised films of the week.',
  isWrapper: true,
  interfaces: [Chart],
  fields: (t) => ({
    title: t.reads('title', textOrNull, 'The title of the chart.'),
    entries: t.field({
      type: [WeeklyEntry],
      description: 'The entries by rank.',
      resolve: ({ subjects }) => asObjects(subjects),
    }),
  }),
});

builder.queryFields((t) => ({
  top250: t.connection({
    type: Subject,
    pageSize: 10,
    description: 'The 250 best films by their ratings, best first; basic and advance tiers.',
    endpoint: filmEndpoints.top250,
    representation: simpleSubject,
    isRanked: true,
  }),
  usBoxOffice: t.call({
    type: BoxOfficeChart,
    description: 'The latest North American box office; basic and advance tiers.',
    endpoint: filmEndpoints.usBox,
    ...CHART_SIZE,
  }),
  weeklyChart: t.call({
    type: WeeklyChart,
    description: 'The chart of the week; advance tier.',
    endpoint: filmEndpoints.weekly,
    ...CHART_SIZE,
  }),
  newMovies: t.call({
    type: SubjectChart,
    description: 'New films that people like; advance tier.',
    endpoint: filmEndpoints.newMovies,
    representation: simpleSubject,
    ...CHART_SIZE,
  }),
  inTheaters: t.connection({
    type: Subject,
    description: 'The films now in the cinemas of a city; advance and premium tiers.',
    args: {
      city: t.arg.string({
        description:
          'The Chinese name of a city, or its global or bare id as in `city(id:)`; by default the service chooses a city.',
      }),
    },
    endpoint: filmEndpoints.inTheaters,
    input: (_, { city }) => ({ city: cityIn(searchText('city', city)) }),
    // The specification says Subject; the real service returns Simple Subject.
    representation: simpleSubject,
  }),
  comingSoon: t.connection({
    type: Subject,
    description: 'The films that will soon be in cinemas.',
    endpoint: filmEndpoints.comingSoon,
    representation: simpleSubject,
  }),
}));

/** A city as the service takes it: its name or its id. Throws for a text that can be neither. */
function cityIn(city: string | undefined): string | undefined {
  if (city === undefined) return undefined;
  const key = keyInGlobalId('City', city, 'city');
  const name = nameInKey(key);
  if (name) return name;
  // Chinese letters are not ASCII; an id is nothing else.
  if (isSourceId(key) || (key === city && /(?!\p{ASCII})\p{L}/u.test(city))) return key;
  throw badInput('This is neither the id nor the Chinese name of a city.', { argument: 'city' });
}
