/**
 * Apollo Server with RESTDataSource, carefully written: one data source per operation that makes each request once, the fetch of undici,
 * cached documents, and a response cache where the upstream allows it.
 */
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginCacheControl } from '@apollo/server/plugin/cacheControl';
import { startStandaloneServer } from '@apollo/server/standalone';
import responseCachePlugin from '@apollo/server-plugin-response-cache';
import { Agent, fetch } from 'undici';
import type { BookRecord, TagRecord } from '../src/api/book.ts';
import type { CelebrityRecord, PersonCredit, SubjectRecord, WorkRecord } from '../src/api/film.ts';
import { type EventEntry, type PersonEntry, eventsIn, peopleIn, typeDefs } from './graph.ts';

const dispatcher = new Agent({ connections: Number(process.env.CONNECTIONS) });

class Catalog extends RESTDataSource {
  override baseURL = process.env.UPSTREAM!;
  /** Whether all upstream responses of the operation may be cached. */
  mayReuse = true;

  // An operation requests nothing twice, also after the first response; and nothing modifies a parsed body.
  protected override requestDeduplicationPolicyFor(url: URL) {
    return { policy: 'deduplicate-until-invalidated', deduplicationKey: url.href } as const;
  }
  protected override cloneParsedBody<T>(parsed: T): T {
    return parsed;
  }

  read<T>(path: string, params: Record<string, string> = {}): Promise<T> {
    return this.fetch<T>(path, { params }).then(({ parsedBody, response }) => {
      if (!response.headers.get('cache-control')?.includes('max-age')) this.mayReuse = false;
      return parsedBody;
    });
  }
}

interface Context {
  catalog: Catalog;
}
interface First {
  first: number;
}
type UserShape = PersonEntry | { id: string };

const bare = (id: string) => id.slice(id.indexOf(':') + 1);

const resolvers = {
  Query: {
    book: (_: unknown, { id }: { id: string }, { catalog }: Context) => catalog.read(`/v2/book/${bare(id)}`),
    user: (_: unknown, { id }: { id: string }) => ({ id: bare(id) }),
    top250: (_: unknown, { first, offset = 0 }: First & { offset?: number }, { catalog }: Context) =>
      catalog.read('/v2/movie/top250', { start: String(offset), count: String(first) }),
    searchSubjects: (_: unknown, { first, query }: First & { query: string }, { catalog }: Context) =>
      catalog.read('/v2/movie/search', { q: query, count: String(first) }),
    subject: (_: unknown, { id }: { id: string }, { catalog }: Context) =>
      catalog.read(`/v2/movie/subject/${bare(id)}`),
    city: (_: unknown, { id }: { id: string }) => ({ id: bare(id) }),
  },
  Book: {
    id: ({ id }: BookRecord) => `Book:${id}`,
    authors: ({ author }: BookRecord) => author ?? [],
    rating: ({ rating }: BookRecord) => ({ average: Number(rating?.average) || null }),
    tags: async ({ id, tags }: BookRecord, { first }: First, { catalog }: Context) => {
      if (tags && first <= 8) return tags.slice(0, first);
      const list = await catalog.read<{ tags: TagRecord[] }>(`/v2/book/${id}/tags`);
      return list.tags.slice(0, first);
    },
  },
  Tag: { name: ({ name, title }: { name?: string; title?: string }) => name ?? title },
  User: {
    id: ({ id }: UserShape) => `User:${id}`,
    bookCollections: ({ id }: UserShape, { first }: First, { catalog }: Context) =>
      catalog.read(`/v2/book/user/${id}/collections`, { count: String(first) }),
  },
  CollectionConnection: { nodes: ({ collections }: { collections: object[] }) => collections },
  SubjectConnection: { nodes: ({ subjects }: { subjects: SubjectRecord[] }) => subjects },
  Subject: {
    id: ({ id }: SubjectRecord) => `Subject:${id}`,
    directors: async (subject: SubjectRecord, _: unknown, { catalog }: Context) =>
      subject.directors ?? (await catalog.read<SubjectRecord>(`/v2/movie/subject/${subject.id}`)).directors,
    casts: async (subject: SubjectRecord, _: unknown, { catalog }: Context) =>
      subject.casts ?? (await catalog.read<SubjectRecord>(`/v2/movie/subject/${subject.id}`)).casts,
  },
  Celebrity: {
    id: ({ id }: PersonCredit) => `Celebrity:${id}`,
    works: async ({ id }: PersonCredit, { first }: First, { catalog }: Context) => {
      const { works } = await catalog.read<CelebrityRecord>(`/v2/movie/celebrity/${id}`);
      return { nodes: works!.slice(0, first) satisfies WorkRecord[] };
    },
  },
  City: {
    events: async ({ id }: { id: string }, { first }: First, { catalog }: Context) => ({
      nodes: eventsIn(await catalog.read<string>(`/event/location/${id}`, { 'max-results': String(first) })),
    }),
  },
  Event: {
    id: ({ id }: EventEntry) => `Event:${id}`,
    startsAt: ({ startTime }: EventEntry) => startTime,
    place: ({ where }: EventEntry) => where,
    participants: async ({ id }: EventEntry, { first }: First, { catalog }: Context) => ({
      nodes: peopleIn(await catalog.read<string>(`/event/${id}/participants`, { 'max-results': String(first) })),
    }),
  },
};

const server = new ApolloServer<Context>({
  typeDefs,
  resolvers,
  plugins: [
    ApolloServerPluginCacheControl({ defaultMaxAge: 60, calculateHttpHeaders: false }),
    responseCachePlugin<Context>({ shouldWriteToCache: async ({ contextValue }) => contextValue.catalog.mayReuse }),
  ],
});

await startStandaloneServer(server, {
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
  context: async () => ({
    catalog: new Catalog({ fetch: (url, init) => fetch(url, { ...(init as object), dispatcher }) }),
  }),
});
