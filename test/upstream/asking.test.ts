import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { bookEndpoints } from '../../src/contract/book.ts';
import type { RecordSource } from '../../src/upstream/known.ts';
import { createLifetime } from '../../src/upstream/lifetime.ts';
import { type RecordStore, type Records, createRecords } from '../../src/upstream/records.ts';
import { createUpstream } from '../../src/upstream/upstream.ts';
import { type Behaviour, hostile, json } from '../support/hostile.ts';
import { patient } from '../support/patient.ts';

const books: RecordSource = { ask: bookEndpoints.byId, input: (id) => ({ id }) };
const broken = new Error('the cache is broken');
const breaks = () => {
  throw broken;
};

/** Two operations over one service, of which the first has a cache that fails whenever anything came. */
async function twoOver(behaviour: Behaviour) {
  const service = await hostile(behaviour);
  const kept = createRecords({ ttlSeconds: 0 });
  let opened = 0;
  const records: RecordStore = {
    ...kept,
    seenBy: (partition): Records => {
      const seen = kept.seenBy(partition);
      const failing = { put: breaks, forget: breaks, putAnswer: breaks, forgetAnswer: breaks };
      return opened++ === 0 ? { ...seen, ...failing } : seen;
    },
  };
  const settings = { ...readConfig({}), ...patient, baseUrl: service.url, eventBaseUrl: service.url };
  const upstream = createUpstream(settings, { records });
  const asker = { authorization: undefined, address: '127.0.0.1', requestId: 'test' };
  const operations = [1, 2].map(() => upstream.open(asker, createLifetime()));
  return { service, operations };
}

const unknown = json('{"code":6000,"msg":"book_not_found"}', 404);
const refused = json('{"code":106,"msg":"expired_token"}', 401);

test.each([
  ['came', json('{"id":"7","title":"x"}'), { title: 'x' }],
  ['is absent', unknown, null],
])('a cache that fails over an answer that %s costs nobody else theirs, and nobody the end', async (_, came, shown) => {
  const { service, operations } = await twoOver(came);
  const answers = await Promise.allSettled(
    operations.map(async (operation) => operation.ask(bookEndpoints.byId, { id: '7' }, ['title'], undefined)),
  );
  expect(service.heard).toHaveLength(1);
  expect(answers[0]).toEqual({ status: 'rejected', reason: broken });
  expect(answers[1]).toMatchObject({ status: 'fulfilled', value: shown });
});

test('a cache that fails over a refusal costs nobody else theirs, and nobody the end', async () => {
  const { service, operations } = await twoOver(refused);
  const wants = await Promise.allSettled(
    operations.map(async (operation) => operation.want('Book', books, '7', ['title'], { id: '7' }, undefined)),
  );
  expect(service.heard).toHaveLength(1);
  expect(wants[0]).toEqual({ status: 'rejected', reason: broken });
  expect(wants[1]).toMatchObject({ status: 'rejected', reason: { word: { status: 401 } } });
});
