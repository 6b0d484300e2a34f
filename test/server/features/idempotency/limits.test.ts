/** Nothing is computed on the text of a request before its limits are checked. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { journey } from '../../../support/journey.ts';
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

test('a mutation within MAX_UPSTREAM_CALLS is made whole with a key too: its reads are beside them', async () => {
  const { facade, execute } = await journey({ maxUpstreamCalls: '5' });
  const create = 'mutation { createNote(input: { title: "a", content: "b" }) { note { id } } }';
  const ids: string[] = [];
  for (let left = 5; left > 0; left--) {
    const { data } = await execute(create, { token: 'demo-alice' });
    ids.push((data as { createNote: { note: { id: string } } }).createNote.note.id);
  }
  const deletions = ids.map((id, at) => `d${at}: deleteNote(input: { id: "${id}" }) { deletedId }`);
  const send = keyedClient(facade.url);
  const { result } = await send(JSON.stringify({ query: `mutation { ${deletions.join(' ')} }` }), randomUUID());
  expect(result).toEqual({ data: Object.fromEntries(ids.map((deletedId, at) => [`d${at}`, { deletedId }])) });
});

test('variables within their limits are told apart, also those that nest a thousand deep', async () => {
  const service = await lateService(atOnce);
  const send = keyedClient((await replica(service.url)).url);
  const key = randomUUID();
  expect(await send(bodyOf(nested(1_000)), key)).toMatchObject({ status: 200, isReplayed: false });
  expect(await send(bodyOf(nested(1_000)), key)).toMatchObject({ isReplayed: true });
  expect(await send(bodyOf(nested(1_001)), key)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
});
