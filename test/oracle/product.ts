/** The facade and the scripted upstream in one process, without sockets between them. */
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { Dispatcher } from 'undici';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import type { Config } from '../../src/config/settings.ts';
import { readConfig } from '../../src/config/read.ts';
import type { Tier } from '../../src/api/endpoint.ts';
import { schema } from '../../src/graph/schema.ts';
import { createFetchHandler } from '../../src/fetch-handler.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { type Pipeline, createPipeline } from '../../src/server/graphql/pipeline.ts';
import { createServer } from '../support/open-server.ts';
import { type Cache, createMemoryCache } from '../../src/upstream/cache/memory.ts';
import { createRecordCache } from '../../src/upstream/cache/record-cache.ts';
import { createTransport } from '../../src/upstream/http/pool.ts';
import { type UpstreamClient, createUpstream } from '../../src/upstream/client.ts';
import { type Fault, type Faults, faultOf, withoutFields } from './faults.ts';
import { type Oddities, oddly, waitOf } from './oddities.ts';
import { createRandom } from './random.ts';
import type { Link } from './redis-programs.ts';
import type { Service } from './service.ts';
import { type Response_, type Sender, headersOf } from './upstreams.ts';
import { people, tokenOf } from './world.ts';

export interface Settings {
  /** The facade's own token; null for none. */
  own: { tier: Tier; isTold: boolean } | null;
  recordTtlSeconds: number | null;
  readAttempts: number;
  callTimeoutMs: number;
  maxUpstreamCalls: number;
  /** Record what is written to the shared cache. */
  isWatched: boolean;
  /** Use real sockets on both sides. */
  bySockets: boolean;
}

/** One request as the upstream received it. */
export interface Met {
  operation: string;
  /** Without `fields`. */
  request: string;
  line: string;
  fault: Fault | undefined;
  /** Its refusal asks for a wait that is longer than a case. */
  asksForLongWait: boolean;
}

export const OWN_TOKEN = 'token-of-facade';

/** The person and tier of a token. */
export function senderOf(token: string | undefined, { own }: Settings): Sender | 'unknown' {
  if (token === undefined) return { person: null, tier: 'basic' };
  if (token === OWN_TOKEN) return { person: 'carol', tier: own?.tier ?? 'basic', isOwn: true };
  const person = Object.keys(people).find((name) => tokenOf(name) === token);
  return person ? { person, tier: people[person]! } : 'unknown';
}

export interface Product {
  /** Runs plans, and operations that are not sent as requests. */
  pipeline: Pipeline;
  /** URL of the GraphQL endpoint. */
  address: string;
  fetch: (request: Request) => Promise<Response>;
  upstream: UpstreamClient;
  /** Values in cache partitions that more than one person may read, as JSON. */
  shared: readonly string[];
  config: Config;
  /** Closes the connections of clients. */
  leave: () => Promise<void>;
  /** Counters that must be zero when all operations have ended. */
  busy: () => Record<string, number>;
  /** As kill -9 ends a process: it gets no response any more, and tells nobody. */
  kill?: () => unknown;
  close: () => Promise<void>;
}

/** Counters of upstream calls, and of the server if there is one. */
export function busyOf(upstream: UpstreamClient, state: () => object = () => ({})): Record<string, number> {
  const { catalog, events } = upstream.state();
  const counters = {
    ...state(),
    sharedReadsUnderWay: upstream.sharedReads(),
    ...Object.fromEntries(
      Object.entries({ catalog, events }).flatMap(([service, { running, waiting }]) => [
        [`${service} running`, running],
        [`${service} waiting`, waiting],
      ]),
    ),
  };
  return Object.fromEntries(Object.entries(counters).filter(([, value]) => value > 0));
}

const base = {
  ...readConfig({ BASE_URL: 'http://catalog.example', EVENT_BASE_URL: 'http://events.example' }),
  breakerFailures: 1_000,
};
export const silentLog = pino({ level: 'silent' });

export function configOf({ own, recordTtlSeconds, readAttempts, callTimeoutMs, maxUpstreamCalls }: Settings): Config {
  return {
    ...base,
    accessToken: own ? OWN_TOKEN : undefined,
    filmTier: own?.isTold ? own.tier : undefined,
    recordTtlSeconds: recordTtlSeconds ?? undefined,
    readAttempts,
    callTimeoutMs,
    maxUpstreamCalls,
    graphiql: false,
  };
}

/** How operators spell the same addresses. */
const spellings = [
  {},
  { baseUrl: 'HTTP://Catalog.example', eventBaseUrl: 'http://EVENTS.example' },
  { baseUrl: 'http://catalog.example:80/', eventBaseUrl: 'http://events.example:80/' },
];

/** With `link` it is a replica, which shares a Redis with others. `place`: among them. */
export function openProduct(service: FaultyService, settings: Settings, link?: Link, place = 0): Product {
  const spelling = spellings[place % spellings.length];
  const config = { ...configOf(settings), ...spelling, redisUrl: link?.url };
  const upstreamSettings = { ...config, baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! };
  const shared: string[] = [];
  const dispatcher = new ScriptedDispatcher(service);
  const upstream = createUpstream(catalogService, upstreamSettings, {
    transport: createTransport(upstreamSettings, dispatcher),
    ...(!link && {
      records: createRecordCache({
        ttlSeconds: config.recordTtlSeconds,
        absentTtlSeconds: config.absentTtlSeconds,
        cache: settings.isWatched ? watchedCache(shared) : undefined,
      }),
    }),
  });
  const parts = { schema, config, upstream, log: silentLog, metrics: createMetrics() };
  const pipeline = createPipeline(parts);
  let handler: ReturnType<typeof createFetchHandler> | undefined;
  let state: (() => object) | undefined;
  return {
    pipeline,
    address: 'http://facade.example/graphql',
    fetch: (request) => {
      if (!handler) {
        const server = createServer(config, parts);
        handler = createFetchHandler(server.server);
        state = server.state;
      }
      return handler.fetch(request, { address: '127.0.0.1' });
    },
    upstream,
    shared,
    config,
    leave: () => Promise.resolve(),
    busy: () => (dispatcher.isDead ? {} : busyOf(upstream, state)),
    kill() {
      dispatcher.isDead = true;
      return link?.end();
    },
    async close() {
      await handler?.close(dispatcher.isDead ? 1 : 1_000);
      if (link) await upstream.close();
      await link?.end();
    },
  };
}

/** A cache that records what is stored for more than one person. It disables the response cache, as several replicas do. */
const watchedCache = (shared: string[]): Cache => {
  const cache = createMemoryCache(64_000_000);
  return {
    ...cache,
    set(place, mark, entry) {
      if (!place.partition.startsWith('tier ')) shared.push(JSON.stringify(entry.value));
      cache.set(place, mark, entry);
    },
  };
};

type Handler = Dispatcher.DispatchHandler;

/** Responses of an operation that wait. */
interface Hold {
  /** Resolves when the service has received a request of the operation. */
  reached: Promise<void>;
  release: () => void;
}

/** The outcome of one request. */
interface Meeting {
  happens: Fault | undefined;
  wait: ReturnType<typeof waitOf>;
  /** What a pause concerns at the least: the token and the endpoint, with any id in the path. */
  concerns: string;
  /** Undefined for a write that was not carried out. */
  answer: Response_ | Promise<Response_> | undefined;
  /** Delay of the response in turns of the event loop, so that responses are reordered. */
  turns: number;
  /** If the operation is held: resolves when it is released. */
  released: Promise<void> | undefined;
}

/** The service with faults and delays between it and the facade, independent of how requests reach it. */
export class FaultyService {
  readonly met: Met[] = [];
  pending = 0;
  private readonly service: Service;
  private readonly faults: Faults;
  private readonly oddities: Oddities;
  private readonly paused = new Set<string>();
  /** Requests that came although their sender had been told to wait. */
  readonly tooEarly: string[] = [];
  private readonly held = new Map<string, { reach: () => void; released: Promise<void> }>();
  private readonly seen = new Map<string, number>();

  constructor(service: Service, faults: Faults, oddities: Oddities) {
    this.service = service;
    this.faults = faults;
    this.oddities = oddities;
  }

  /** The response as it is sent. */
  shown({ happens, wait }: Meeting, answer: Response_ | undefined): ReturnType<typeof oddly> {
    const response = happens ? spoiled(happens, answer) : answer!;
    return oddly(this.oddities, wait ? { ...response, headers: { ...response.headers, ...wait.headers } } : response);
  }

  /** The response has been delivered. */
  delivered({ wait, concerns }: Meeting): void {
    if (wait?.isLong) after(READ_TURNS, () => this.paused.add(concerns));
  }

  /** Responses of this operation, which show the state of when they were requested, wait until `release`. */
  hold(operation: string): Hold {
    const [reached, reach] = signal();
    const [released, release] = signal();
    this.held.set(operation, { reach, released });
    return { reached, release: () => (this.held.delete(operation), release()) };
  }

  meet(method: string, path: string, header: (name: string) => string | undefined, body: string): Meeting {
    const request = withoutFields(method, path);
    const times = this.seen.get(request) ?? 0;
    this.seen.set(request, times + 1);
    const fault = faultOf(this.faults, request);
    const operation = header('x-request-id') ?? '';
    const token = header('authorization')?.replace(/^Bearer /, '');
    const wait = waitOf(this.oddities, fault, request);
    const line = `${method} ${path}`;
    this.met.push({ operation, request, line, fault, asksForLongWait: wait?.isLong === true });
    const endpoint = path.replace(/\?.*/, '').replace(/\/[^/]*\d[^/]*/g, '/:id');
    const concerns = `${token} ${method} ${endpoint}`;
    if (this.paused.has(concerns)) this.tooEarly.push(line);
    const random = createRandom(`${this.faults.seed} delay ${request} ${times}`);
    const turns = random.weighted([
      [3, 0],
      [3, random.int(1, 3)],
      [1, random.int(4, 12)],
    ]);
    const happens = fault === 'flaky' && times > 0 ? undefined : fault;
    // With any other fault the write is not carried out.
    const isMade = method === 'GET' || happens === undefined || happens === 'lost' || happens === 'notJson';
    const contentType = header('content-type');
    const answer = isMade ? this.service.answer({ method, path, body, token, contentType }) : undefined;
    const held = this.held.get(operation);
    held?.reach();
    return { happens, wait, concerns, answer, turns, released: held?.released };
  }
}

/** Turns of the event loop until a response is read. */
const READ_TURNS = 5;

function signal(): [Promise<void>, () => void] {
  let give: () => void = () => undefined;
  return [new Promise<void>((resolve) => (give = resolve)), give];
}

/** Calls `deliver` when the response to a request is due. */
export function whenDue({ turns, released, answer }: Meeting, deliver: (answer: Response_ | undefined) => void): void {
  after(turns, () => whenCome(released, () => whenCome(answer, deliver)));
}

/** A dispatcher that calls the service in memory. */
class ScriptedDispatcher extends Dispatcher {
  /** Its process was killed. */
  isDead = false;
  private readonly service: FaultyService;

  constructor(service: FaultyService) {
    super();
    this.service = service;
  }

  override dispatch({ method, path, headers, body }: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const { service } = this;
    service.pending++;
    let isOver = false;
    const over = (): boolean => {
      if (isOver) return false;
      isOver = true;
      service.pending--;
      return true;
    };
    const fail = (error: Error) => {
      if (over()) handler.onError!(error);
    };
    handler.onConnect!((reason?: Error) => setImmediate(() => fail(reason ?? new Error('aborted'))));
    if (body instanceof Readable) body.resume();
    const text = typeof body === 'string' ? body : '';
    const meeting = service.meet(method, path, headerOf(headers as string[]), text);
    const { happens } = meeting;
    const deliver = (answer: Response_ | undefined): void => {
      if (this.isDead) return void over();
      if (isOver || happens === 'silent') return;
      if (isLost(happens)) return fail(connectionLost());
      const shown = service.shown(meeting, answer);
      const { bytes } = shown;
      const named = Object.entries(headersOf(shown)).flat();
      handler.onHeaders!(
        shown.status,
        named.map((each) => Buffer.from(each)),
        () => undefined,
        '',
      );
      if (happens === 'cut') {
        handler.onData!(bytes.subarray(0, bytes.length >> 1));
        return after(1, () => fail(connectionLost()));
      }
      if (bytes.length) handler.onData!(bytes);
      if (!over()) return;
      handler.onComplete!([]);
      service.delivered(meeting);
    };
    whenDue(meeting, deliver);
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }
  override destroy(): Promise<void> {
    return Promise.resolve();
  }
}

/** Whether the connection is lost before the first byte of the response. */
export const isLost = (fault: Fault | undefined): boolean => fault === 'reset' || fault === 'lost' || fault === 'flaky';

function headerOf(headers: readonly string[]): (name: string) => string | undefined {
  return (name) => {
    for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === name) return headers[at + 1];
    return undefined;
  };
}

function whenCome<T>(value: T | Promise<T>, act: (value: T) => void): void {
  if (value instanceof Promise) void value.then(act);
  else act(value);
}

export function after(turns: number, act: () => void): void {
  if (turns === 0) return void setImmediate(act);
  setImmediate(() => after(turns - 1, act));
}

const connectionLost = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** The response changed by its fault. */
export function spoiled(fault: Fault, answer: Response_ | undefined): Response_ {
  const json = (status: number, body: string): Response_ => ({
    status,
    type: 'application/json',
    body,
    headers: answer?.headers,
  });
  const { body = '', type = 'application/json', status = 200, headers } = answer ?? {};
  const isXml = type.includes('xml');
  switch (fault) {
    case 'status500':
    case 'status502':
    case 'status503':
    case 'status403':
    case 'status404':
      return { status: Number(fault.slice(6)), type: 'text/html', body: '<html>gateway</html>' };
    case 'rateLimit':
      return json(429, '{"code":112,"msg":"rate_limit_exceeded2","request":"GET /"}');
    case 'functionError':
      return json(500, '{"code":6009,"msg":"function_error","request":"GET /"}');
    case 'errorUnder200':
      return json(200, '{"code":999,"msg":"unknown","request":"GET /"}');
    case 'notJson':
      return { status, type, body: isXml ? '<entry><title>no end' : '{"id": "1", "title": ', headers };
    case 'list':
      return { status, type, body: '[]', headers };
    case 'nothing':
      return { status, type, body: '', headers };
    case 'otherKey':
      return {
        status,
        type,
        headers,
        body: isXml ? body.replace(/<id>[^<]*<\/id>/, '<id>http://api.example/event/999</id>') : otherKey(body),
      };
    case 'noKey':
      return isXml ? { status, type, body: '<feed xmlns="http://www.w3.org/2005/Atom"/>' } : json(200, '{}');
    default:
      return { status, type, body, headers };
  }
}

function otherKey(body: string): string {
  if (!body.startsWith('{')) return '{}';
  const record = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify('id' in record ? { ...record, id: '987654' } : { unexpected: true });
}
