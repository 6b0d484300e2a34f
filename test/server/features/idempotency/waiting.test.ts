/** Requests with keys that wait for others. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { createCancellationToken } from '../../../../src/lib/cancellation.ts';
import { createCallers } from '../../../../src/server/features/idempotency/callers.ts';
import { keyedClient } from '../../../support/keyed-client.ts';
import { type ArrivedWrite, atOnce, lateService } from '../../../support/late-service.ts';
import { until } from '../../../support/redis.ts';
import { replica } from '../../../support/replica.ts';

const bodyOf = (content: string, noteId = '7') =>
  JSON.stringify({
    query: `mutation ($noteId: ID!, $content: String!) { createNoteComment(input: { noteId: $noteId, content: $content }) { comment { content } } }`,
    variables: { noteId, content },
  });

test('writes that wait for one thing hold no slot, and too many of them are refused with a code of their own', async () => {
  const held: ArrivedWrite[] = [];
  const service = await lateService((write) => void held.push(write));
  const { url } = await replica(service.url, { maxRunningOperations: '2' });
  const send = keyedClient(url);
  const first = send(bodyOf('first'), randomUUID());
  await until(() => held.length === 1);
  const waiting: ReturnType<typeof send>[] = [];
  const refused: (string | undefined)[] = [];
  for (let at = 0; at < 18; at++) {
    const one = send(bodyOf(`waits ${at}`), randomUUID());
    waiting.push(one);
    void one.then(({ code }) => refused.push(code));
  }
  // With two slots no more than two could wait, if who waits held one.
  await until(() => refused.length === 2);
  expect(refused).toEqual(['TOO_MANY_KEYED_WRITES', 'TOO_MANY_KEYED_WRITES']);
  const query = JSON.stringify({ query: '{ __typename }' });
  expect(await send(query)).toMatchObject({ status: 200 });
  const release = setInterval(() => held.splice(0).forEach(atOnce), 5);
  const codes = (await Promise.all([first, ...waiting])).map(({ code, status }) => `${status} ${code}`);
  clearInterval(release);
  expect(codes.filter((each) => each === '429 TOO_MANY_KEYED_WRITES')).toHaveLength(2);
  expect(codes.filter((each) => each === '200 undefined')).toHaveLength(17);
});

test('a wait ends with its request, and counts no longer', async () => {
  const callers = createCallers(60_000);
  const operation = createCancellationToken();
  const waits = Array.from({ length: 16 }, () => callers.wait('alice', 'a note', operation, undefined));
  for (const wait of waits) wait.begin();
  const next = callers.wait('alice', 'a note', operation, undefined);
  expect(() => next.begin()).toThrow('Too many');
  for (const wait of waits) await wait.end();
  next.begin();
  await next.end();
});

test('a wait that takes too long ends', async () => {
  const wait = createCallers(20).wait('alice', 'a note', createCancellationToken(), undefined);
  wait.begin();
  expect(await wait.until(new Promise<void>(() => undefined))).toBe(false);
  await wait.end();
});

test('at the shutdown a write whose client has left is waited for', async () => {
  const held: ArrivedWrite[] = [];
  const service = await lateService((write) => void held.push(write));
  const { openServer } = await import('../../../support/open-server.ts');
  const { createUpstream } = await import('../../../../src/upstream/client.ts');
  const { readConfig } = await import('../../../../src/config/read.ts');
  const { schema } = await import('../../../../src/graph/schema.ts');
  const { pino } = await import('pino');
  const config = readConfig({ BASE_URL: service.url, EVENT_BASE_URL: service.url, PORT: '0' });
  const upstream = createUpstream(catalogService, { ...config, baseUrl: service.url, eventBaseUrl: service.url });
  const facade = await openServer(config, { schema, upstream, log: pino({ level: 'silent' }) });
  const client = new AbortController();
  const headers = {
    authorization: 'Bearer demo-alice',
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const { signal } = client;
  const left = fetch(`${facade.url}/graphql`, { method: 'POST', headers, body: bodyOf('a'), signal }).catch(
    () => 'left',
  );
  await until(() => held.length === 1);
  client.abort();
  expect(await left).toBe('left');
  const closed = facade.close().then(() => upstream.close());
  await sleep(300);
  expect(held[0]!.isAbandoned()).toBe(false);
  atOnce(held[0]!);
  await closed;
  expect(service.comments).toHaveLength(1);
});
