import { GraphQLError } from 'graphql';
import { pino } from 'pino';
import { type Interceptable, MockAgent } from 'undici';
import { afterAll } from 'vitest';
import type { Config } from '../../src/config/settings.ts';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { createPipeline } from '../../src/server/graphql/answer.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { createTransport } from '../../src/upstream/http/pool.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { type Piece, merged } from './pieces.ts';

export interface Asking {
  variables?: Record<string, unknown>;
  /** A bearer token of the caller's own. */
  token?: string;
  /** The whole header, where it is not a bearer token. */
  authorization?: string;
  explain?: 'plan' | 'trace';
}

/**
 * The facade over a service that answers what a test says it answers, and nothing else.
 *
 * `service` and `events` are the two upstreams; an ask that no test expected fails, so a test's interceptors are also what it says of
 * the calls that are made.
 */
export function facade(settings: Partial<Config> = {}) {
  const agent = new MockAgent({ connections: 1 });
  agent.disableNetConnect();
  afterAll(() => agent.close());
  const service: Interceptable = agent.get('http://catalog.example');
  const events: Interceptable = agent.get('http://events.example');

  const config: Config = {
    ...readConfig({ BASE_URL: 'http://catalog.example', EVENT_BASE_URL: 'http://events.example' }),
    ...settings,
  };
  const upstreamSettings = {
    ...config,
    baseUrl: 'http://catalog.example',
    eventBaseUrl: 'http://events.example',
    readAttempts: 1,
  };
  const calls: string[] = [];
  const transport = createTransport(upstreamSettings, agent);
  const upstream = createUpstream(upstreamSettings, {
    transport: {
      ...transport,
      send: (request, signal) => {
        calls.push(`${request.method} ${request.path}`);
        return transport.send(request, signal);
      },
    },
  });
  const pipeline = createPipeline({
    schema,
    config,
    upstream,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
  });

  return {
    service,
    events,
    /** Method, path and query of every call made so far. */
    calls,
    /** The answer, as it goes out as JSON; one that comes in pieces is put together. */
    ask: async (query: string, { variables, token, authorization, explain }: Asking = {}) => {
      const caller = {
        authorization: authorization ?? (token && `Bearer ${token}`),
        explain,
        address: '127.0.0.1',
        requestId: 'test',
        accept: 'multipart/mixed',
      };
      const answer = await pipeline.answer(
        pipeline.prepare(query, undefined),
        variables,
        caller,
        createCancellationToken(),
      );
      if (!(Symbol.asyncIterator in answer)) return asJson(answer) as Shown;
      const pieces: Piece[] = [];
      for await (const piece of answer) pieces.push(asJson(piece) as Piece);
      return merged(pieces);
    },
  };
}

const asJson = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (_, value: unknown) => (value instanceof GraphQLError ? value.toJSON() : value)));

/** An answer as a client reads it. */
export interface Shown {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test says what it expects of an answer by expecting it
  data?: any;
  errors?: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  extensions?: Record<string, unknown>;
}
