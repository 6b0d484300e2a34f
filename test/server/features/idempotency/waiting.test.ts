/** Requests with keys that wait for others. */
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { createCancellationToken } from '../../../../src/lib/cancellation.ts';
import type { Parking } from '../../../../src/server/http/connections/admission.ts';
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

test('requests that wait for their key hold no slot, and too many of them are refused with a code of their own', async () => {
  const held: ArrivedWrite[] = [];
  const service = await lateService((write) => void held.push(write));
  const { url } = await replica(service.url, { maxRunningOperations: '2' });
  const send = keyedClient(url);
  const key = randomUUID();
  const first = send(bodyOf('first'), key);
  await until(() => held.length === 1);
  const waiting: ReturnType<typeof send>[] = [];
  const refused: (string | undefined)[] = [];
  for (let at = 0; at < 18; at++) {
    const one = send(bodyOf('first'), key);
    waiting.push(one);
    void one.then(({ code }) => refused.push(code));
  }
  // With two slots no more than two could wait, if who waits held one.
  await until(() => refused.length === 2);
  expect(refused).toEqual(['TOO_MANY_KEYED_WRITES', 'TOO_MANY_KEYED_WRITES']);
  const query = JSON.stringify({ query: '{ __typename }' });
  expect(await send(query)).toMatchObject({ status: 200 });
  held.forEach(atOnce);
  const codes = (await Promise.all([first, ...waiting])).map(({ code, status }) => `${status} ${code}`);
  expect(codes.filter((each) => each === '429 TOO_MANY_KEYED_WRITES')).toHaveLength(2);
  expect(codes.filter((each) => each === '200 undefined')).toHaveLength(17);
  expect(held).toHaveLength(1);
});

/** Requests of one caller that wait for one key until `free` is called. */
function waiters(waitMs: number, parking?: Parking) {
  const callers = createCallers(waitMs);
  let kind = 'held';
  const given: string[] = [];
  const waiter = { caller: 'alice', cancellation: createCancellationToken(), parking };
  return {
    given,
    free: () => (kind = 'locked'),
    wait: () =>
      callers.untilFree(waiter, 'a key', {
        look: async () => ({ kind }),
        giveBack: async (found) => given.push(found.kind),
      }),
  };
}

test('a wait ends with its request, and counts no longer', async () => {
  const { wait, free } = waiters(60_000);
  const waits = Array.from({ length: 16 }, wait);
  await setImmediate(); // each has looked once
  await expect(wait()).rejects.toThrow('Too many');
  free();
  expect(await Promise.all(waits)).toHaveLength(16);
  expect(await wait()).toEqual({ kind: 'locked' });
});

test('a wait that takes too long ends', async () => {
  await expect(waiters(20).wait()).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
});

test('the lock of a key is given back if there is no slot for the request after its wait', async () => {
  const parking = { release: () => undefined, enter: () => Promise.reject(new Error('overloaded')) };
  const { wait, free, given } = waiters(1_000, parking);
  const waited = wait();
  await setImmediate(); // it has looked once
  free();
  await expect(waited).rejects.toThrow('overloaded');
  expect(given).toEqual(['locked']);
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
