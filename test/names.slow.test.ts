/** What becomes of requests while the name service is silent, or fails. */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostile, titledX } from './support/hostile.ts';
import { canReplaceNames, replacedNames } from './support/names.ts';
import { startProgram } from './support/program.ts';

/** A facade over a service with a name, of which nothing is cached. */
async function namedFacade(names: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) {
  const service = await hostile(titledX);
  const replaced = replacedNames();
  const lead = (to: object) => replaced.lead({ 'service.test': '127.0.0.1', ...to });
  lead(names);
  const url = `http://service.test:${service.port}`;
  const program = await startProgram({
    ...{ PORT: '0', BASE_URL: url, EVENT_BASE_URL: url, RECORD_TTL_SECONDS: '0', READ_ATTEMPTS: '1' },
    ...env,
    ...replaced.env,
  });
  onTestFinished(() => void program.stop('SIGKILL'));
  let id = 0;
  /** Reads one book after another for so long. Returns how many were, and the errors. */
  async function read(ms: number) {
    const errors: unknown[] = [];
    let reads = 0;
    for (const end = performance.now() + ms; performance.now() < end; await setTimeout(50)) {
      const query = `{ book(id: "${++id}") { title } }`;
      const response = await fetch(`${program.url}/graphql?query=${encodeURIComponent(query)}`);
      const answer = (await response.json()) as { errors?: unknown[] };
      errors.push(...(answer.errors ?? []));
      reads++;
    }
    return { reads, errors };
  }
  const lookUpsOf = (name: string) =>
    readFileSync(replaced.lookUps, 'utf8')
      .split('\n')
      .filter((each) => each === name).length;
  return { service, program, read, lead, lookUpsOf };
}

describe.skipIf(!canReplaceNames)('while the name service is silent', () => {
  test.each([
    ['Redis', { REDIS_URL: 'redis://redis.test:6379' }],
    ['the Redis of the keys', { IDEMPOTENCY_REDIS_URL: 'rediss://redis.test:6379' }],
    ['both', { REDIS_URL: 'redis://redis.test', IDEMPOTENCY_REDIS_URL: 'redis://keys.test' }],
    ['Sentinels', { REDIS_URL: 'redis+sentinel://redis.test,keys.test/main' }],
    ['a cluster', { REDIS_URL: 'redis+cluster://redis.test,keys.test' }],
    [
      'the other service, and a collector',
      { EVENT_BASE_URL: 'http://events.test', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.test' },
    ],
  ] as const)('about %s, no read fails, from the start on', async (_, env) => {
    const names = { 'redis.test': 'hang', 'keys.test': 'hang', 'events.test': 'hang', 'collector.test': 'hang' };
    const { read, lookUpsOf } = await namedFacade(names, env);
    const { reads, errors } = await read(2_500);
    expect(errors).toEqual([]);
    expect(reads).toBeGreaterThan(1); // a silent look-up takes ten seconds
    for (const name of Object.keys(names)) expect(lookUpsOf(name), name).toBeLessThanOrEqual(2);
  });

  test.each(['hang', 'again'])('about the service itself (%s), its last address serves', async (failure) => {
    const { read, lead, service } = await namedFacade({});
    expect((await read(500)).errors).toEqual([]);
    lead({ 'service.test': failure });
    expect((await read(6_000)).errors).toEqual([]);
    service.hangUp();
    expect((await read(2_000)).errors).toEqual([]);
  });
});
