/** Nothing is computed on the text of a request before its limits are checked. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyedClient } from '../../../support/keyed-client.ts';
import { atOnce, lateService } from '../../../support/late-service.ts';
import { replica } from '../../../support/replica.ts';

const nested = (depth: number) => `${'['.repeat(depth)}"${'x'.repeat(1_000)}"${']'.repeat(depth)}`;
const bodyOf = (more: string) =>
  `{"query":"mutation { likeNote(input: { id: \\"7\\" }) { note { id } } }","variables":{"more":${more}}}`;

test.each([
  ['many values', `[${Array<number>(20_000).fill(1).join()}]`],
  ['values that nest deeper than the call stack', nested(30_000)],
])('a request with a key and %s is rejected as one without, and nothing is sent', async (_, more) => {
  const service = await lateService(atOnce);
  const send = keyedClient((await replica(service.url)).url);
  const without = await send(bodyOf(more));
  expect(without.result.errors[0].message).toContain('Values in variables');
  expect(await send(bodyOf(more), randomUUID())).toEqual(without);
  expect(service.lines).toEqual([]);
});

test('variables within their limits are told apart, however deep they nest', async () => {
  const service = await lateService(atOnce);
  const send = keyedClient((await replica(service.url)).url);
  const key = randomUUID();
  expect(await send(bodyOf(nested(9_000)), key)).toMatchObject({ status: 200, isReplayed: false });
  expect(await send(bodyOf(nested(9_000)), key)).toMatchObject({ isReplayed: true });
  expect(await send(bodyOf(nested(9_001)), key)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
});
