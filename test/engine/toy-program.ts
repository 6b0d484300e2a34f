/** Serves the second service on a socket, and answers the operations of its argument over it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { readOptions } from '../../src/config/read.ts';
import { builder } from '../../src/engine/builder.ts';
import { priceOf } from '../../src/engine/cost/price.ts';
import { createAssess } from '../../src/engine/documents/assess.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { createPipeline } from '../../src/server/graphql/pipeline.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { toyService } from './toy-service.ts';

/** An operation, or its price. */
export interface Asked {
  query: string;
  explain?: 'plan' | 'trace';
  isPriced?: boolean;
}

let calls: string[] = [];
const shopOf = (id: string) => ({ id, name: `Shop ${id}`, keeper_id: '7' });
const service = createServer((request, response) => {
  calls.push(request.url!);
  const { pathname, searchParams } = new URL(request.url!, 'http://service');
  const [, , kind, id = '', list] = pathname.split('/');
  const fields = searchParams.get('fields')?.split(',');
  const refuse = (status: number, code: number, msg: string) => {
    response.statusCode = status;
    return response.end(JSON.stringify({ code, msg, request: `GET ${pathname}` }));
  };
  response.setHeader('content-type', 'application/json');
  if (id === 'none') return refuse(400, 7, 'no_such_shop');
  if (id === 'closed') return refuse(403, 8, 'closed today');
  const whole = kind === 'shop' ? shopOf(id) : { id, name: `Keeper ${id}`, born: '1970' };
  const picked = Object.fromEntries(Object.entries(whole).filter(([name]) => !fields || fields.includes(name)));
  const page = { start: 0, count: 2, total: 2, shops: ['1', '2'].map(shopOf) };
  return response.end(JSON.stringify(list === 'shops' ? page : picked));
}).listen(0, '127.0.0.1');
await once(service, 'listening');
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

const schema = builder.toSchema({});
const config = readOptions({ baseUrl: url, eventBaseUrl: url });
const assess = createAssess(schema, config);
const upstream = createUpstream(toyService, { ...config, baseUrl: url, eventBaseUrl: url });
const pipeline = createPipeline({ schema, config, upstream, log: pino({ level: 'silent' }) });

async function answer({ query, explain, isPriced }: Asked): Promise<unknown> {
  if (isPriced) return priceOf(assess(query).cost!, { maxCalls: 1_000, limited: new Set<string>() });
  const sender = { authorization: undefined, address: '127.0.0.1', requestId: 'toy' };
  const request = { ...sender, explain, variables: undefined, cancellation: createCancellationToken() };
  return (await pipeline.run(pipeline.prepare(query, undefined), request)).result;
}

const answers = [];
for (const asked of JSON.parse(process.argv[2]!) as Asked[]) {
  calls = [];
  answers.push({ answer: await answer(asked), calls });
}
process.stdout.write(JSON.stringify(answers));
await upstream.close();
service.close();
service.closeAllConnections();
