import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from './open-server.ts';
import type { OriginOptions } from '../../src/origin/server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import type { GraphQLResponse } from './facade.ts';
import type { TestFlags } from './config.ts';
import { patientConfig } from './patient.ts';
import { service } from './service.ts';
import { afterUse } from './hooks.ts';

/** One call between facade and origin. */
export interface Passed {
  line: string;
  bytes: number;
  status: number;
  /** 1 for a call that waited for no other, 2 for one that waited for those, and so on. */
  wave: number;
}

/** The whole path, from GraphQL to SQLite through real sockets, with a counting proxy between facade and origin. */
export async function journey(
  settings: TestFlags = {},
  statusFor: StatusFor = () => undefined,
  options: Partial<OriginOptions> = {},
) {
  const origin = await service(options);
  const proxy = await countingProxy(origin.url, statusFor);
  const own = { ACCESS_TOKEN: 'demo-app', FILM_TIER: 'advance', PORT: '0' };
  const config = patientConfig({ ...own, BASE_URL: proxy.url, EVENT_BASE_URL: proxy.url }, settings);
  const address = { baseUrl: proxy.url, eventBaseUrl: proxy.url };
  const upstream = createUpstream(catalogService, { ...config, ...address });
  const facade = await openServer(config, { schema, upstream, log: pino({ level: 'silent' }) });
  afterUse(async () => {
    await facade.leave();
    await upstream.close();
    await proxy.close();
  });

  async function execute(
    query: string,
    { token, variables, headers, onError }: RequestOptions = {},
  ): Promise<GraphQLResponse> {
    const response = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      body: JSON.stringify({ query, variables, onError }),
    });
    return (await response.json()) as GraphQLResponse;
  }

  /** The response to a form, with its HTTP status. */
  async function upload(
    form: BodyInit,
    headers: Record<string, string> = {},
  ): Promise<GraphQLResponse & { status: number }> {
    const response = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers: { 'x-graphql-csrf': '1', authorization: 'Bearer demo-alice', ...headers },
      body: form,
      ...(form instanceof ReadableStream && { duplex: 'half' }),
    });
    return { status: response.status, ...((await response.json()) as GraphQLResponse) };
  }

  /** The response to a query, and its upstream calls. With `waves` also in how many waves they are made, which takes time. */
  async function cost(query: string, options: RequestOptions & { waves?: boolean } = {}) {
    proxy.start(options);
    const response = await execute(query, options);
    const passed = proxy.stop();
    return { response, passed, calls: passed.length, depth: Math.max(0, ...passed.map(({ wave }) => wave)) };
  }

  return { origin, facade, proxy, config, upstream, execute, upload, cost };
}

/** The status to respond with instead of forwarding to the origin, if any. */
type StatusFor = (path: string) => 404 | 500 | undefined;

interface RequestOptions {
  onError?: 'PROPAGATE' | 'NULL' | 'HALT';
  token?: string;
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/**
 * The number of timer turns without new or running calls before a wave is released. It counts turns, not time: facade, proxy and origin
 * share this process, so a slow machine is slow for all of them.
 */
const QUIET_TURNS = 8;
const TURN_MS = 3;

/**
 * Holds calls until no more come, then releases them together: a call that waited for the response of another is in a later wave,
 * independent of the speed of the machine.
 */
async function countingProxy(target: string, statusFor: StatusFor) {
  let counting = false;
  let holding = false;
  let wave = 0;
  let passed: Passed[] = [];
  let held: (() => void)[] = [];
  let running = 0;
  let received = 0;

  const server = createServer((incoming, outgoing) => {
    if (!holding) return pass(incoming, outgoing);
    held.push(() => pass(incoming, outgoing));
    received++;
    settle(QUIET_TURNS, received);
  });
  function settle(turns: number, since: number) {
    setTimeout(() => {
      if (since !== received) return; // a later call has come
      if (running > 0) settle(QUIET_TURNS, since);
      else if (turns > 0) setImmediate(() => settle(turns - 1, since));
      else release();
    }, TURN_MS);
  }
  function release() {
    wave++;
    const all = held;
    held = [];
    for (const go of all) go();
  }
  function pass(incoming: IncomingMessage, outgoing: ServerResponse) {
    const [isCounted, at] = [counting, wave];
    const { method, url, headers } = incoming;
    const broken = statusFor(url!.split('?')[0]!);
    if (broken) {
      const code = broken === 500 ? 999 : url!.includes('/movie/') ? 5000 : 6000;
      outgoing.writeHead(broken, { 'content-type': 'application/json' });
      return outgoing.end(JSON.stringify({ code, msg: 'broken', request: `${method} ${url}` }));
    }
    const { hostname, port } = new URL(target);
    running++;
    outgoing.once('close', () => running--);
    const forwarded = forward({ hostname, port, method, path: url, headers }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
      answer.on('end', () => {
        if (isCounted) passed.push({ line: `${method} ${url}`, bytes, status: answer.statusCode ?? 0, wave: at });
      });
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Counts calls from now on. With `waves` they are held until no more come; without, all are in wave 0. */
    start({ waves = false } = {}) {
      counting = true;
      holding = waves;
      wave = 0;
      passed = [];
    },
    stop() {
      counting = holding = false;
      return passed;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
