import { expect, test, vi } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { bookEndpoints } from '../../src/api/book.ts';
import { describeDeviation } from '../../src/inspect/compare.ts';
import { deviationsOf, watchInterface } from '../../src/inspect/watch.ts';
import { createLog } from '../../src/lib/log.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { readTabs } from '../../src/server/graphql/documents/tabs.ts';
import { observeInterface } from '../../src/server/observability/watch.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { createApiRequest } from '../../src/api/api-request.ts';
import type { InspectedResponse } from '../../src/upstream/http/response.ts';
import { readConfig } from '../../src/config/read.ts';
import { hostile, json } from '../support/hostile.ts';
import { patientConfig } from '../support/patient.ts';
import { service } from '../support/service.ts';
import { startFacade } from '../support/start-facade.ts';

const response = (value: object, fields?: string) => ({
  request: createApiRequest(bookEndpoints.byId, { id: '1' }, fields?.split(',')),
  value,
  text: '',
});

test('the first response of an endpoint a minute is looked at', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const report = vi.fn();
  const watch = watchInterface(report);
  for (let n = 0; n < 100; n++) watch(response({ id: '1', titel: 'x' }, 'id,title'));
  expect(report).toHaveBeenCalledTimes(1);
  const found = [
    { what: 'unknown', coordinate: 'titel' },
    { what: 'missing', coordinate: 'title' },
  ];
  expect(report.mock.calls[0]!.slice(1)).toEqual([found, found]);
  vi.advanceTimersByTime(60_000);
  watch(response({ id: '1', titel: 'x' }, 'id,title'));
  expect(report.mock.calls[1]!.slice(1)).toEqual([found, []]);
  vi.useRealTimers();
});

test('names that a service makes up are remembered up to a bound', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const first: number[] = [];
  const watch = watchInterface((_, __, unknown) => void first.push(unknown.length));
  for (let n = 0; n < 10; n++) {
    watch(response(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x${n}-${at}`, 1])), 'id'));
    vi.advanceTimersByTime(60_000);
  }
  vi.useRealTimers();
  expect(first.reduce((sum, each) => sum + each)).toBe(200);
});

test('what a service sends otherwise is counted and logged by endpoint, and its values are not', async () => {
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const books = await hostile();
  books.behave(json('{"id":"1","titel":"sesame"}'));
  const config = readConfig({ BASE_URL: books.url, EVENT_BASE_URL: books.url });
  const upstream = createUpstream(
    catalogService,
    { ...config, baseUrl: books.url, eventBaseUrl: books.url },
    { inspect: observeInterface(metrics, log) },
  );
  const facade = await startFacade({}, {}, { upstream });
  expect(await facade.execute('{book(id:"1"){title}}')).toMatchObject({ data: { book: { title: '' } } });
  expect(await metrics.text()).toContain('catalog_unexpected_members_total{endpoint="GET /v2/book/:id"} 2\n');
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 'warn',
    service: 'catalog',
    endpoint: 'GET /v2/book/:id',
    members: ['unknown titel', 'missing title'],
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('sesame');
});

test('what was not requested is not missing', () => {
  const report = vi.fn();
  const request = createApiRequest(bookEndpoints.search, { q: 'x' }, ['id', 'title']);
  expect(request.wirePath).toContain('fields=id,title');
  const books = [{ id: '1', title: 'x' }];
  watchInterface(report)({ request, value: { books, count: 1, start: 0, total: 1 } });
  expect(report).not.toHaveBeenCalled();
});

test('every response to the operations of the demo is as the interface says, for every demo user', async () => {
  const origin = await service();
  const deviations = new Set<string>();
  let inspected = 0;
  const inspect = (response: InspectedResponse) => {
    inspected++;
    const { endpoint } = response.request;
    for (const each of deviationsOf(response))
      deviations.add(`${endpoint.method} ${endpoint.path} ${describeDeviation(each)}`);
  };
  const own = { BASE_URL: origin.url, EVENT_BASE_URL: origin.url, ACCESS_TOKEN: 'demo-app' };
  const config = patientConfig(own);
  const upstream = createUpstream(
    catalogService,
    { ...config, baseUrl: origin.url, eventBaseUrl: origin.url, recordTtlSeconds: 0 },
    { inspect },
  );
  const facade = await startFacade({}, {}, { upstream });
  for (const token of [undefined, 'demo-alice', 'demo-bob', 'demo-carol'])
    for (const { query, variables = {} } of readTabs('operations'))
      await facade.execute(query, {
        variables,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
  expect([...deviations].sort()).toEqual([]);
  expect(inspected).toBeGreaterThan(100);
});
