import { describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { eventEndpoints } from '../../../src/api/event.ts';
import { filmTiers } from '../../../src/api/film-tiers.ts';
import { createCredentials } from '../../../src/upstream/auth/credentials.ts';
import { createPauses } from '../../../src/upstream/limits/pauses.ts';
import { connectRedis } from '../../../src/upstream/redis/shared-state.ts';
import { hasRedis, redisServer, until } from '../../support/redis.ts';

const settings = { retryAfterSeconds: 5, maxRetryAfterSeconds: 60 };
const book = bookEndpoints.byId;
const event = eventEndpoints.byId;
const { own, anonymous } = createCredentials(filmTiers, undefined, undefined);
describe.skipIf(!hasRedis)('pauses in Redis', () => {
  async function replica(url: string, events = 'one service') {
    const shared = connectRedis({
      url,
      namespace: 'one service',
      events,
      timeouts: { record: 20_000, window: 20_000 },
    });
    await until(async () => (await shared.pauses.read(['a', 'b'])) !== undefined);
    return { ...shared, known: createPauses(settings, shared.pauses) };
  }

  test('the longer of two pauses stays, and another process goes on where the first one was', async () => {
    const { url } = await redisServer();
    const [one, two] = [await replica(url), await replica(url)];
    one.pauses.begin('key', { leftMs: 30_000, refusals: 3 });
    two.pauses.begin('key', { leftMs: 5_000, refusals: 1 });
    await until(async () => (await two.pauses.read(['key', 'other']))?.[0]?.refusals === 3);
    const [pause, other] = (await two.pauses.read(['key', 'other']))!;
    expect(pause!.leftMs).toBeGreaterThan(20_000);
    expect(other!.leftMs).toBeLessThanOrEqual(0);
    await Promise.all([one.close(), two.close()]);
  });

  test('a pause of the service of events is shared only by processes that read events from the same one', async () => {
    const { url } = await redisServer();
    const [one, two, other] = [await replica(url), await replica(url), await replica(url, 'other events')];
    one.known.begin(event, anonymous, 'endpoint', 30);
    await until(async () => {
      await two.known.learn(event, anonymous);
      return two.known.refusal(event, anonymous) !== undefined;
    });
    await other.known.learn(event, anonymous);
    expect(other.known.refusal(event, anonymous)).toBeUndefined();
    await Promise.all([one.close(), two.close(), other.close()]);
  });

  test('a refusal after a pause of another process makes the next one longer, until the service takes calls again', async () => {
    const { url } = await redisServer();
    const [one, two] = [await replica(url), await replica(url)];
    // A pause that is over, and remembered.
    const keys = ['catalog GET /v2/book/:id', 'catalog all'] as const;
    one.pauses.begin(keys[0], { leftMs: 1, refusals: 2 });
    await until(async () => {
      const [pause] = (await two.pauses.read(keys)) ?? [];
      return pause?.refusals === 2 && pause.leftMs < 0;
    });
    await two.known.learn(book, own);
    expect(two.known.refusal(book, own)).toBeUndefined();
    expect(two.known.begin(book, own, 'endpoint', 7)).toBe(28);
    await until(async () => (await one.pauses.read(keys))?.[0]?.refusals === 3);
    one.pauses.end(keys[0]);
    await one.known.learn(book, own);
    expect(one.known.refusal(book, own)).toMatchObject({ retryAfter: 28 });
    await Promise.all([one.close(), two.close()]);
  });

  test('the end of a pause is forgotten by all processes once a call is taken', async () => {
    const { url } = await redisServer();
    const one = await replica(url);
    one.pauses.begin('key', { leftMs: 1, refusals: 2 });
    await until(async () => (await one.pauses.read(['key', 'other']))?.[0]?.refusals === 2);
    await until(async () => {
      one.pauses.end('key');
      return (await one.pauses.read(['key', 'other']))?.[0]?.refusals === 0;
    });
    await one.close();
  });
});
