import { createServer } from 'node:http';
import { pino } from 'pino';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from './open-server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import type { GraphQLResponse } from './facade.ts';
import { afterUse } from './hooks.ts';
import { listen } from './listen.ts';

/** The response at one path, whatever its query. */
export interface Reply {
  status?: number;
  type?: string;
  text: string;
}

/** A facade on a real socket whose upstream sends the given responses, and 500 for other paths. */
export async function replay() {
  let replies: Readonly<Record<string, Reply>> = {};
  let calls: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    calls.push(`${incoming.method} ${decodeURIComponent(path)}`);
    const {
      status = 200,
      type = 'application/json',
      text,
    } = replies[decodeURIComponent(path)] ?? { status: 500, text: '' };
    outgoing.writeHead(status, { 'content-type': type }).end(text);
  });
  const url = await listen(server);

  const config = readConfig({
    BASE_URL: url,
    EVENT_BASE_URL: url,
    PORT: '0',
    RECORD_TTL_SECONDS: '0',
    MAX_UPSTREAM_CALLS: '5000',
  });
  const upstream = createUpstream(catalogService, { ...config, baseUrl: url, eventBaseUrl: url });
  const facade = await openServer(config, { schema, upstream, log: pino({ level: 'silent' }) });
  afterUse(async () => {
    await facade.close();
    await upstream.close();
  });

  let tokens = 0;
  return async (query: string, given: Readonly<Record<string, Reply>>) => {
    replies = given;
    calls = [];
    const received = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      // Each query has a token of its own, so that a rejection does not affect the next one.
      headers: { 'content-type': 'application/json', authorization: `Bearer token-${++tokens}` },
      body: JSON.stringify({ query }),
    });
    return { response: (await received.json()) as GraphQLResponse, calls };
  };
}
