/** Workers without Redis share idempotency keys. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { keyedClient } from '../support/keyed-client.ts';
import { type ArrivedWrite, atOnce, lateService } from '../support/late-service.ts';
import { patientEnv } from '../support/patient.ts';
import { startProgram } from '../support/program.ts';
import { until } from '../support/redis.ts';

const env = { ...patientEnv, PORT: '0', WORKERS: '3' };

const bodyOf = (content: string) =>
  JSON.stringify({
    query: `mutation ($content: String!) { createNoteComment(input: { noteId: "7", content: $content }) { comment { content } } }`,
    variables: { content },
  });

/** The workers of a running program. */
const workersOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

test('workers know the keys of one another, also those of a worker that was killed', async () => {
  const held: ArrivedWrite[] = [];
  let holds = false;
  const service = await lateService((write) => (holds ? void held.push(write) : atOnce(write)));
  const address = {
    BASE_URL: service.url,
    EVENT_BASE_URL: service.url,
    UPSTREAM_SETTLE_MS: '100',
    CALL_TIMEOUT_MS: '500',
  };
  const program = await startProgram({ ...env, ...address });
  const send = (content: string, key: string) =>
    keyedClient(program.url)(bodyOf(content), key, 'demo-alice', { connection: 'close' });
  for (let at = 0; at < 4; at++) {
    const [key, content] = [randomUUID(), randomUUID()];
    const first = await send(content, key);
    expect(first).toMatchObject({ code: undefined, isReplayed: false });
    const others = await Promise.all([1, 2, 3].map(() => send(content, key)));
    for (const other of others) expect(other).toEqual({ ...first, isReplayed: true });
    expect(service.comments.filter((each) => each.content === content)).toHaveLength(1);
  }
  holds = true;
  const [key, content] = [randomUUID(), randomUUID()];
  const lost = send(content, key).catch(() => 'lost');
  await until(() => held.length === 1);
  for (const pid of workersOf(program.pid)) process.kill(pid, 'SIGKILL');
  expect(await lost).toBe('lost');
  atOnce(held[0]!);
  holds = false;
  let last: string | undefined = 'none';
  await until(async () => {
    last = await send(content, key).then(
      ({ code }) => code,
      () => 'no response',
    );
    return last === undefined;
  });
  expect(service.comments.filter((each) => each.content === content)).toHaveLength(1);
  await program.stop();
});
