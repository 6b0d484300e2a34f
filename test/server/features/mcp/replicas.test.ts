import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agent, facadeOver } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';
import { clientOf } from '../../../support/replica.ts';

const TOKEN = 'demo-bob';
const mcpOperations = mkdtempSync(join(tmpdir(), 'replicas-'));
writeFileSync(
  join(mcpOperations, 'films.graphql'),
  'query Films($words: String!) { searchSubjects(query: $words) { totalCount } }',
);
// A Redis that times out once is not used for a while, hence the retry.
test.skipIf(!hasRedis)(
  'agents share one quota over all replicas, and each replica reports what is left of it',
  { retry: 2 },
  async () => {
    const redis = await redisServer();
    const setup = await journey();
    const settings = { mcpOperations, redisUrl: redis.url, recordTtlSeconds: '0' };
    const urls = [];
    for (let at = 0; at < 2; at++) urls.push((await facadeOver(setup.proxy.url, settings)).facade.url);
    const agents = await Promise.all(urls.map((url) => agent(url, TOKEN)));
    const people = urls.map(clientOf);
    const remaining = async (at: number) =>
      (await people[at]!('{ viewer { rateBudget { remaining } } }', TOKEN)).data.viewer.rateBudget?.remaining;
    const search = (at: number, words: string) =>
      people[at]!(`{ searchSubjects(query: "${words}") { totalCount } }`, TOKEN);
    // Each replica is connected to Redis when it counts the call of the other.
    await search(0, 'first');
    await until(async () => (await remaining(1)) === 39 && (await remaining(0)) === 39);

    setup.proxy.start();
    const left: (number | undefined)[] = [];
    let rejected = 0;
    for (let at = 0; at < 30; at++) {
      const { isError, output } = await agents[at % 2]!.call('Films', { words: `agent ${at}` });
      if (isError) rejected++;
      left.push(output.cost.left?.remaining);
    }
    expect(setup.proxy.stop()).toHaveLength(10);
    expect(rejected).toBe(20);
    expect(left.slice(0, 12)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);

    setup.proxy.start();
    const codes: string[] = [];
    for (let at = 0; at < 35; at++)
      codes.push(
        ...((await search(at % 2, `person ${at}`)).errors ?? []).map(({ extensions }) => extensions.code as string),
      );
    const passed = setup.proxy.stop();
    expect([passed.length, codes.length]).toEqual([29, 6]);
    expect(passed.filter(({ status }) => status === 429)).toEqual([]);
  },
);
