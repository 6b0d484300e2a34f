/**
 * The practical limit: one hand-written endpoint per workload with node:http and `dispatch` of undici. No GraphQL, the minimum of calls
 * with `fields`, and in W6 a response cache. By rule, it parses the upstream's JSON.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { Pool } from 'undici';
import type { BookRecord, TagRecord } from '../src/api/book.ts';
import type { PersonCredit, SubjectRecord, WorkRecord } from '../src/api/film.ts';
import { TAGS, type Variables } from './workloads.ts';

const upstream = new Pool(process.env.UPSTREAM!, { connections: Number(process.env.CONNECTIONS) });

/** How long the response may be cached, as far as its upstream responses are known. */
interface Reuse {
  seconds: number;
}
type Endpoint = (variables: Variables, reuse: Reuse) => Promise<unknown>;

const endpoints: Record<string, Endpoint> = {
  '/w1': async ({ id }, reuse) => {
    const { title, author, publisher, rating } = await json<BookRecord>(
      `/v2/book/${id}?fields=author,publisher,rating,title`,
      reuse,
    );
    return {
      book: { id: `Book:${id}`, title, authors: author, publisher, rating: { average: Number(rating!.average) } },
    };
  },
  '/w2': shelf,
  '/w3': async ({ offset }, reuse) => {
    const people = new Map<string, Promise<PersonAnswer>>();
    const person = (credit: PersonCredit) => {
      let person = people.get(credit.id!);
      if (!person) people.set(credit.id!, (person = personAnswer(credit, reuse)));
      return person;
    };
    const { subjects } = await json<{ subjects: SubjectRecord[] }>(
      `/v2/movie/top250?start=${offset}&count=20&fields=id,title`,
      reuse,
    );
    const nodes = subjects.map(async (subject) => {
      const { directors, casts } = await json<SubjectRecord>(
        `/v2/movie/subject/${subject.id}?fields=casts,directors`,
        reuse,
      );
      const [directing, acting] = await Promise.all([
        Promise.all(directors!.map(person)),
        Promise.all(casts!.map(person)),
      ]);
      return { ...titled(subject), directors: directing, casts: acting };
    });
    return { top250: { nodes: await Promise.all(nodes) } };
  },
  '/w4': async ({ query }, reuse) => {
    const { subjects } = await json<{ subjects: SubjectRecord[] }>(
      `/v2/movie/search?q=${encodeURIComponent(query!)}&count=20&fields=id,title`,
      reuse,
    );
    return { searchSubjects: { nodes: subjects.map(titled) } };
  },
  '/w5': async (variables, reuse) => {
    const [book, subject, events] = await Promise.all([
      json<BookRecord>(`/v2/book/${variables.book}?fields=author,title`, reuse),
      json<SubjectRecord>(`/v2/movie/subject/${variables.film}?fields=genres,title,year`, reuse),
      eventsOf(String(variables.city), reuse),
    ]);
    return {
      book: { id: `Book:${variables.book}`, title: book.title, authors: book.author },
      subject: {
        id: `Subject:${variables.film}`,
        title: subject.title,
        year: subject.year,
        genres: subject.genres,
      },
      city: { events: { nodes: events } },
    };
  },
  '/w6': shelf,
};

async function shelf({ user }: Variables, reuse: Reuse) {
  const { collections } = await json<{ collections: { book: BookRecord }[] }>(
    `/v2/book/user/${user}/collections?start=0&count=20&fields=book`,
    reuse,
  );
  const nodes = collections.map(async ({ book: { id, title, rating } }) => {
    const { tags } = await json<{ tags: TagRecord[] }>(`/v2/book/${id}/tags?start=0&count=${TAGS}`, reuse);
    return {
      book: {
        id: `Book:${id}`,
        title,
        rating: { average: Number(rating!.average) },
        tags: tags.slice(0, TAGS).map(({ title, count }) => ({ name: title, count })),
      },
    };
  });
  return { user: { bookCollections: { nodes: await Promise.all(nodes) } } };
}

interface PersonAnswer {
  id: string;
  name: string;
  works: { nodes: { subject: { id: string; title: string } }[] };
}
async function personAnswer({ id, name }: PersonCredit, reuse: Reuse): Promise<PersonAnswer> {
  const { works } = await json<{ works: WorkRecord[] }>(`/v2/movie/celebrity/${id}?fields=works`, reuse);
  return {
    id: `Celebrity:${id}`,
    name,
    works: { nodes: works.slice(0, 5).map(({ subject }) => ({ subject: titled(subject) })) },
  };
}

const titled = ({ id, title }: SubjectRecord) => ({ id: `Subject:${id}`, title });

async function eventsOf(city: string, reuse: Reuse) {
  const feed = await text(`/event/location/${city}?start-index=1&max-results=5`, reuse);
  const nodes = entriesOf(feed).map(async (entry) => {
    const id = lastSegment(between(entry, '<id>', '</id>'));
    const people = await text(`/event/${id}/participants?start-index=1&max-results=3`, reuse);
    return {
      id: `Event:${id}`,
      title: between(entry, '<title>', '</title>'),
      startsAt: between(entry, ' startTime="', '"'),
      place: between(entry, '<gd:where valueString="', '"'),
      participants: {
        nodes: entriesOf(people).map((person) => ({
          id: `User:${lastSegment(between(person, '<id>', '</id>'))}`,
          name: between(person, '<title>', '</title>'),
        })),
      },
    };
  });
  return Promise.all(nodes);
}

const entriesOf = (feed: string) => feed.split('<entry>').slice(1);
const lastSegment = (url: string) => url.slice(url.lastIndexOf('/') + 1);

function between(text: string, before: string, after: string): string {
  const start = text.indexOf(before) + before.length;
  const found = text.slice(start, text.indexOf(after, start));
  return found.includes('&') ? found.replace(/&(?:amp|lt|gt|quot|#9|#10|#13);/g, (name) => entities[name]!) : found;
}
const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#9;': '\t',
  '&#10;': '\n',
  '&#13;': '\r',
};

const json = async <T>(path: string, reuse: Reuse): Promise<T> => JSON.parse(await text(path, reuse)) as T;

function text(path: string, reuse: Reuse): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    upstream.dispatch(
      { path, method: 'GET' },
      {
        onConnect: () => undefined,
        onHeaders(code, headers) {
          status = code;
          reuse.seconds = Math.min(reuse.seconds, secondsIn(headers));
          return true;
        },
        onData(chunk) {
          chunks.push(chunk);
          return true;
        },
        onComplete() {
          const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
          if (status === 200) resolve(bytes.toString());
          else reject(new Error(`${status} of ${path}`));
        },
        onError: reject,
      },
    );
  });
}

function secondsIn(headers: Buffer[]): number {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]!.length !== 13 || headers[at]!.toString('latin1').toLowerCase() !== 'cache-control') continue;
    return Number(/max-age=(\d+)/.exec(headers[at + 1]!.toString('latin1'))?.[1] ?? 0);
  }
  return 0;
}

/** The response cache, by endpoint and request body. */
const responses = new Map<string, { bytes: Buffer; until: number }>();
const RESPONSES_MAX = 1000;

async function respond(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
  const key = request.url! + body;
  let bytes: Buffer;
  const cached = responses.get(key);
  if (cached && cached.until > Date.now()) bytes = cached.bytes;
  else {
    const reuse = { seconds: Infinity };
    const { variables } = JSON.parse(body) as { variables: Variables };
    bytes = Buffer.from(JSON.stringify({ data: await endpoints[request.url!]!(variables, reuse) }));
    if (reuse.seconds > 0 && responses.size < RESPONSES_MAX)
      responses.set(key, { bytes, until: Date.now() + 1000 * reuse.seconds });
  }
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length });
  response.end(bytes);
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    respond(request, response, body).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
