/** Requests with keys that come while others run, or whose clients leave. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { keyedClient } from '../../../support/keyed-client.ts';
import { type ArrivedWrite, atOnce, lateService } from '../../../support/late-service.ts';
import { until } from '../../../support/redis.ts';
import { replica } from '../../../support/replica.ts';

const bodyOf = (content: string, noteId = '7') =>
  JSON.stringify({
    query: `mutation ($noteId: ID!, $content: String!) { createNoteComment(input: { noteId: $noteId, content: $content }) { comment { content } } }`,
    variables: { noteId, content },
  });

test('while a write runs, the same request is told so at once; too many writes of one sender are refused', async () => {
  const held: ArrivedWrite[] = [];
  const service = await lateService((write) => void held.push(write));
  const send = keyedClient((await replica(service.url)).url);
  const key = randomUUID();
  const running = [send(bodyOf('first'), key)];
  await until(() => held.length === 1);
  const meanwhile = { status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' };
  expect(await Promise.all([send(bodyOf('first'), key), send(bodyOf('first'), key)])).toMatchObject([
    meanwhile,
    meanwhile,
  ]);
  let refused: string | undefined;
  for (let at = 1; refused === undefined && at < 2_000; at++) {
    const one = send(bodyOf(`${at}`, String(at)), randomUUID());
    running.push(one);
    void one.then(({ status, code }) => (refused ??= `${status} ${code}`));
    await sleep(5);
  }
  expect(refused).toBe('429 TOO_MANY_KEYED_WRITES');
  expect(running.length).toBeGreaterThan(64);
  // Those that were not accepted yet when one was refused find room as soon as others end.
  let isOver = false;
  const all = Promise.all(running).finally(() => (isOver = true));
  await until(() => (held.splice(0).forEach(atOnce), isOver));
  const answers = await all;
  // On a busy machine some have waited too long to be sent.
  expect(service.comments).toHaveLength(answers.filter(({ code }) => code === undefined).length);
  expect(await send(bodyOf('first'), key)).toEqual({ ...answers[0], isReplayed: true });
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
