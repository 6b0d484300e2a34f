import { GraphQLError } from 'graphql';
import { pino } from 'pino';
import { type Interceptable, MockAgent } from 'undici';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import type { Config } from '../../src/config/settings.ts';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import type { Outcome } from '../../src/server/graphql/outcome.ts';
import { createPipeline } from '../../src/server/graphql/pipeline.ts';
import { acceptedTypes } from '../../src/server/http/request/accept.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { type Transport, type TransportSettings, createTransport } from '../../src/upstream/http/pool.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { afterEachTest, afterUse } from './hooks.ts';
import { requireOneValue } from './one-value.ts';
import { type IncrementalPart, mergeParts } from './pieces.ts';

/** What was requested without an interceptor since the last test, in words. */
const undeclared: string[] = [];
/** Returns them, and the test does not fail for them. */
export const takeUndeclared = (): string[] => undeclared.splice(0);
afterEachTest(() => {
  const found = takeUndeclared();
  if (found.length > 0) throw new Error(found.join('\n'));
});

const isUndeclared = (error: unknown): error is Error & { cause: Error } =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === 'UND_MOCK_ERR_MOCK_NOT_MATCHED';

/** `reason` says what did not match of the nearest: the path, the method, the headers or the body. */
function undeclaredText(calls: string[], line: string, reason: Error, agent: MockAgent): string {
  const declared = agent
    .pendingInterceptors()
    .map(({ method, path }) =>
      [method, path].map((part) => (part instanceof Function ? 'a function' : part)).join(' '),
    );
  // "Mock dispatch not matched for path '…': subsequent request to origin …"
  const [, mismatch] = /matched for (\w+)/.exec(reason.message) ?? [];
  const times = calls.filter((call) => call === line).length;
  const again = times > 1 ? ` (its request ${times})` : '';
  return `${line}${again} was not declared, by its ${mismatch}; declared: ${declared.join(', ') || 'nothing more'}`;
}

export interface RequestOptions {
  variables?: Record<string, unknown>;
  /** The bearer token of the client. */
  token?: string;
  /** The whole header, if it is not a bearer token. */
  authorization?: string;
  explain?: 'plan' | 'trace';
  /** Called with each part of an incremental response. */
  onPart?: () => void;
}

/**
 * A facade over services whose responses the test declares.
 * `service` and `events` are the two upstreams. Interceptors also assert which calls are made: a test with a call without one fails, and
 * says which it was and which were declared. `allowsUndeclared`: the call fails, not the test.
 */
export function facade(settings: Partial<Config> = {}, { allowsUndeclared = false } = {}) {
  const agent = new MockAgent({ connections: 1 });
  agent.disableNetConnect();
  afterUse(() => agent.close());
  const service: Interceptable = agent.get('http://catalog.example');
  const events: Interceptable = agent.get('http://events.example');

  const config = {
    ...readConfig({ BASE_URL: 'http://catalog.example', EVENT_BASE_URL: 'http://events.example' }),
    ...settings,
    baseUrl: 'http://catalog.example',
    eventBaseUrl: 'http://events.example',
    readAttempts: 1,
  };
  const calls: string[] = [];
  const transport = createTransport(config, agent);
  const send: Transport['send'] = (request, signal) => {
    const line = `${request.method} ${request.path}`;
    calls.push(line);
    const response = transport.send(request, signal);
    response.catch((error: unknown) => {
      if (!allowsUndeclared && isUndeclared(error)) undeclared.push(undeclaredText(calls, line, error.cause, agent));
    });
    return response;
  };

  return {
    service,
    events,
    /** Method, path and query of every upstream call so far. */
    calls,
    execute: executeOver({ ...transport, send }, config),
  };
}

/** Runs operations over a transport. The response as JSON; an incremental one is merged. */
export function executeOver(transport: Transport, config: TransportSettings) {
  const upstream = createUpstream(catalogService, config, { transport });
  const pipeline = createPipeline({ schema, config, upstream, log: pino({ level: 'silent' }) });
  return async (query: string, { variables, token, authorization, explain, onPart }: RequestOptions = {}) => {
    const requestContext = {
      authorization: authorization ?? (token && `Bearer ${token}`),
      explain,
      address: '127.0.0.1',
      requestId: 'test',
      incremental: acceptedTypes('multipart/mixed').incremental,
      variables,
      cancellation: createCancellationToken(),
    };
    const prepared = pipeline.prepare(query, undefined);
    const shown = await wholeOf((await pipeline.run(prepared, requestContext)).result, onPart);
    const { ready } = prepared;
    if (ready) requireOneValue(ready.document, ready.operation, variables ?? {}, shown);
    return shown;
  };
}

async function wholeOf(result: Outcome['result'], onPart?: () => void): Promise<GraphQLResponse> {
  if (!(Symbol.asyncIterator in result)) return asJson(result) as GraphQLResponse;
  const pieces: IncrementalPart[] = [];
  for await (const piece of result) {
    pieces.push(asJson(piece) as IncrementalPart);
    onPart?.();
  }
  return mergeParts(pieces);
}

const asJson = (response: unknown): unknown =>
  JSON.parse(JSON.stringify(response, (_, value: unknown) => (value instanceof GraphQLError ? value.toJSON() : value)));

/** A response as a client reads it. */
export interface GraphQLResponse {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions check the shape
  data?: any;
  errors?: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  extensions?: Record<string, unknown>;
}
