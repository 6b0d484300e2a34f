import { pino } from 'pino';
import { expect, test } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { schema } from '../../src/graph/schema.ts';
import { coreOf } from '../../src/server/core.ts';
import type { Feature } from '../../src/server/feature.ts';
import type { EndedOperation } from '../../src/server/graphql/ended-operation.ts';
import { sendJson } from '../../src/server/http/response/static-response.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { createGraphServer, openServer } from '../../src/server/server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { hostile, json } from '../support/hostile.ts';
import { patientConfig } from '../support/patient.ts';
import { afterUse } from '../support/hooks.ts';

/** A server with these features alone, and what it has told them of operations. */
async function serverWith(...features: readonly Feature[]) {
  const service = await hostile(json('{"id":"7","title":"x"}'));
  const config = patientConfig({ BASE_URL: service.url, EVENT_BASE_URL: service.url, PORT: '0' });
  const address = { baseUrl: service.url, eventBaseUrl: service.url };
  const upstream = createUpstream(catalogService, { ...config, ...address });
  const log = pino({ level: 'silent' });
  const core = coreOf(config, { schema, upstream, log, metrics: createMetrics(), tabs: [] });
  const ended: EndedOperation[] = [];
  const server = createGraphServer(core, () => [...features, { onEnd: (operation) => void ended.push(operation) }]);
  const facade = await openServer(core, server);
  afterUse(async () => {
    await facade.close();
    await upstream.close();
  });
  const get = async (path: string) => (await fetch(facade.url + path)).status;
  const send = async (query: string): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${facade.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
  };
  return { ended, get, send, paths: server.paths };
}

test('a feature is told of each operation that ended: run, rejected, and answered by a stored response', async () => {
  const { ended, send } = await serverWith();
  const query = 'query Title { book(id: "7") { title } }';
  expect([await send(query), await send(query)]).toEqual(Array(2).fill({ data: { book: { title: 'x' } } }));
  await send('{ nothing }');
  const [run, stored, invalid] = ended;
  expect(ended).toHaveLength(3);
  expect(run).toMatchObject({ operation: { type: 'query', name: 'Title' }, isStored: false, errors: undefined });
  expect(run?.session?.callLog.calls).toHaveLength(1);
  expect(stored).toMatchObject({ isStored: true, document: undefined, session: undefined });
  expect(stored?.operation).toBe(run?.operation); // so that a feature may keep what it knows of a document by it
  expect(invalid).toMatchObject({
    operation: undefined,
    errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
  });
});

test('a feature wraps what runs operations', async () => {
  const { send } = await serverWith({
    around: (run) => async (prepared, request) => {
      const outcome = await run(prepared, request);
      return { ...outcome, result: { data: { wrapped: request.requestId !== '' } }, cachePolicy: undefined };
    },
  });
  expect(await send('{ viewer { isLoggedIn } }')).toEqual({ data: { wrapped: true } });
});

test('an embedding program passes on the routes that are for clients', async () => {
  const route = (audience: 'clients' | 'operator' | 'pages') => ({
    handler: (exchange: Parameters<typeof sendJson>[0]) => sendJson(exchange, 200, {}),
    audience,
  });
  const routes = { '/tools': route('clients'), '/counts': route('operator'), '/start': route('pages') };
  const { get, paths } = await serverWith({ routes });
  expect(paths).toEqual(['/graphql', '/tools']);
  expect(await Promise.all(['/tools', '/counts', '/start', '/usage'].map(get))).toEqual([200, 200, 200, 404]);
});
