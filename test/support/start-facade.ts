import { pino } from 'pino';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { schema } from '../../src/graph/schema.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { observeCalls, observeInterface } from '../../src/server/observability/watch.ts';
import { lazily } from '../../src/lib/promises.ts';
import { type ServerParts, openServer } from './open-server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import type { GraphQLResponse } from './facade.ts';
import { made } from './made.ts';
import { hostile } from './hostile.ts';
import type { TestFlags } from './config.ts';
import { patientConfig } from './patient.ts';
import { afterUse } from './hooks.ts';

/** The whole facade on a socket, between clients and hostile services that the test controls. */
export async function startFacade(
  settings: TestFlags = {},
  env: NodeJS.ProcessEnv = {},
  parts: Partial<ServerParts> = {},
) {
  const [books, events] = await Promise.all([hostile(), hostile()]);
  const own = { BASE_URL: books.url, EVENT_BASE_URL: events.url, PORT: '0' };
  const config = patientConfig({ ...own, ...env }, { recordTtlSeconds: '0', ...settings });
  const logged: string[] = [];
  const metrics = parts.metrics ?? createMetrics();
  const silent = pino({ level: 'silent' });
  const observe = observeCalls(metrics, silent);
  const inspect = observeInterface(metrics, silent);
  const log = pino({ level: config.logLevel }, { write: (line: string) => void logged.push(line) });
  const address = { baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! };
  const upstream = parts.upstream ?? createUpstream(catalogService, { ...config, ...address }, { observe, inspect });
  const facade = await openServer(config, {
    schema,
    upstream,
    log,
    metrics,
    graphiql: await made('graphiql'),
    ...parts,
  });
  // Who gives the client closes it.
  const closeUpstream = lazily(() => (parts.upstream ? Promise.resolve() : upstream.close()));
  const close = () => facade.close().then(closeUpstream);
  afterUse(() => facade.leave().then(closeUpstream));

  return {
    books,
    events,
    facade,
    upstream,
    metrics,
    /** Log lines. */
    logged,
    close,
    url: `${facade.url}/graphql`,
    execute: async (query: string, { variables, headers }: RequestOptions = {}): Promise<GraphQLResponse> => {
      const response = await fetch(`${facade.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      });
      return (await response.json()) as GraphQLResponse;
    },
  };
}

export interface RequestOptions {
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** The codes of the errors in a response. */
export const codesIn = ({ errors = [] }: GraphQLResponse) => errors.map(({ extensions }) => extensions.code);
