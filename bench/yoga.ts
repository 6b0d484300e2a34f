/** Yoga as in a first draft: every resolver uses the built-in fetch, and nothing is cached. */
import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import type { BookRecord, TagRecord } from '../src/api/book.ts';
import type { CelebrityRecord, PersonCredit, SubjectRecord } from '../src/api/film.ts';
import { type EventEntry, eventsIn, peopleIn, typeDefs } from './graph.ts';

const upstream = process.env.UPSTREAM!;
const get = (path: string) => fetch(upstream + path);
const json = async <T>(path: string): Promise<T> => (await (await get(path)).json()) as T;
const text = async (path: string): Promise<string> => (await get(path)).text();

interface ById {
  id: string;
}
interface First {
  first: number;
}

const bare = (id: string) => id.slice(id.indexOf(':') + 1);

const resolvers = {
  Query: {
    book: (_: unknown, { id }: ById) => json(`/v2/book/${bare(id)}`),
    user: (_: unknown, { id }: ById) => ({ id: bare(id) }),
    top250: (_: unknown, { first, offset = 0 }: First & { offset?: number }) =>
      json(`/v2/movie/top250?start=${offset}&count=${first}`),
    searchSubjects: (_: unknown, { first, query }: First & { query: string }) =>
      json(`/v2/movie/search?q=${encodeURIComponent(query)}&count=${first}`),
    subject: (_: unknown, { id }: ById) => json(`/v2/movie/subject/${bare(id)}`),
    city: (_: unknown, { id }: ById) => ({ id: bare(id) }),
  },
  Book: {
    id: ({ id }: BookRecord) => `Book:${id}`,
    authors: ({ author }: BookRecord) => author ?? [],
    rating: ({ rating }: BookRecord) => ({ average: Number(rating?.average) || null }),
    tags: async ({ id }: BookRecord, { first }: First) =>
      (await json<{ tags: TagRecord[] }>(`/v2/book/${id}/tags`)).tags.slice(0, first),
  },
  Tag: { name: ({ title }: TagRecord) => title },
  User: {
    id: ({ id }: ById) => `User:${id}`,
    bookCollections: ({ id }: ById, { first }: First) => json(`/v2/book/user/${id}/collections?count=${first}`),
  },
  CollectionConnection: { nodes: ({ collections }: { collections: object[] }) => collections },
  SubjectConnection: { nodes: ({ subjects }: { subjects: SubjectRecord[] }) => subjects },
  Subject: {
    id: ({ id }: SubjectRecord) => `Subject:${id}`,
    directors: async ({ id }: SubjectRecord) => (await json<SubjectRecord>(`/v2/movie/subject/${id}`)).directors,
    casts: async ({ id }: SubjectRecord) => (await json<SubjectRecord>(`/v2/movie/subject/${id}`)).casts,
  },
  Celebrity: {
    id: ({ id }: PersonCredit) => `Celebrity:${id}`,
    works: async ({ id }: PersonCredit, { first }: First) => ({
      nodes: (await json<CelebrityRecord>(`/v2/movie/celebrity/${id}`)).works!.slice(0, first),
    }),
  },
  City: {
    events: async ({ id }: ById, { first }: First) => ({
      nodes: eventsIn(await text(`/event/location/${id}?max-results=${first}`)),
    }),
  },
  Event: {
    id: ({ id }: EventEntry) => `Event:${id}`,
    startsAt: ({ startTime }: EventEntry) => startTime,
    place: ({ where }: EventEntry) => where,
    participants: async ({ id }: EventEntry, { first }: First) => ({
      nodes: peopleIn(await text(`/event/${id}/participants?max-results=${first}`)),
    }),
  },
};

const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false, graphiql: false });
// eslint-disable-next-line @typescript-eslint/no-misused-promises -- it handles its own errors
createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');
