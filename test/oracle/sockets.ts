/** The facade and its service on real sockets: slower, but nothing is bypassed. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, fetch } from 'undici';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { schema } from '../../src/graph/schema.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { createPipeline } from '../../src/server/graphql/pipeline.ts';
import { openServer } from '../support/open-server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { type Response_, headersOf } from './upstreams.ts';
import {
  type Product,
  type FaultyService,
  type Settings,
  after,
  busyOf,
  configOf,
  isLost,
  silentLog,
  whenDue,
} from './product.ts';

export async function openSockets(service: FaultyService, settings: Settings): Promise<Product> {
  const server = createServer((request, response) => void serve(service, request, response));
  const url = await listening(server);
  const config = { ...configOf(settings), baseUrl: url, eventBaseUrl: url, port: 0, host: '127.0.0.1' };
  const upstream = createUpstream(catalogService, config);
  const parts = { schema, upstream, log: silentLog, metrics: createMetrics() };
  const facade = await openServer(config, parts);
  const client = new Agent();
  const pipeline = createPipeline({ ...parts, config });
  return {
    pipeline,
    address: `${facade.url}/graphql`,
    async fetch(request) {
      const { method, url, signal } = request;
      const body = method === 'GET' ? null : await request.text();
      const headers = Object.fromEntries(request.headers);
      return (await fetch(url, { method, headers, body, signal, dispatcher: client })) as unknown as Response;
    },
    upstream,
    shared: [],
    config,
    leave: () => client.destroy(),
    busy: () => busyOf(upstream, () => facade.state()),
    async close() {
      await client.destroy(); // an unused connection would delay the shutdown of the facade
      await facade.close();
      await upstream.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(service: FaultyService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  service.pending++;
  response.once('close', () => service.pending--);
  let body = '';
  try {
    for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) body += chunk;
  } catch {
    return; // the facade has closed the connection
  }
  const header = (name: string) => request.headers[name] as string | undefined;
  const meeting = service.meet(request.method!, request.url!, header, body);
  const { happens } = meeting;
  const deliver = (answer: Response_ | undefined): void => {
    if (response.destroyed || happens === 'silent') return;
    if (isLost(happens)) return void request.socket.resetAndDestroy();
    const shown = service.shown(meeting, answer);
    const { status, bytes } = shown;
    response.writeHead(status, {
      ...headersOf(shown),
      ...(status === 204 ? {} : { 'content-length': bytes.length }),
    });
    if (happens !== 'cut') return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length >> 1));
    after(1, () => request.socket.resetAndDestroy());
  };
  whenDue(meeting, deliver);
}
