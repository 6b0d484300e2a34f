import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from '../../src/server/server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import type { Shown } from './facade.ts';

/** What the upstream answers at one path, whatever its query. */
export interface Reply {
  status?: number;
  type?: string;
  text: string;
}

/** The facade, through real sockets, over an upstream that answers what it was given and a 500 for everything else. */
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const config = readConfig({
    BASE_URL: url,
    EVENT_BASE_URL: url,
    PORT: '0',
    RECORD_TTL_SECONDS: '0',
    MAX_UPSTREAM_CALLS: '5000',
  });
  const upstream = createUpstream({ ...config, baseUrl: url, eventBaseUrl: url });
  const facade = await openServer(config, { schema, upstream, log: pino({ level: 'silent' }) });
  afterAll(async () => {
    await facade.close();
    await upstream.close();
    server.closeAllConnections();
    server.close();
  });

  let callers = 0;
  return async (query: string, given: Readonly<Record<string, Reply>>) => {
    replies = given;
    calls = [];
    const response = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      // Each question is another caller's: what a refusal taught of one token is not known of the next.
      headers: { 'content-type': 'application/json', authorization: `Bearer caller-${++callers}` },
      body: JSON.stringify({ query }),
    });
    return { answer: (await response.json()) as Shown, calls };
  };
}
