/** Faults that are made, and alerts that fire: what Prometheus would have scraped goes through its own rules, in virtual time. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { alerts, anchorOf } from '../../scripts/monitoring/alerts.ts';
import { dashboardQueries } from '../../scripts/monitoring/dashboard.ts';
import { namesIn } from '../../scripts/monitoring/exposed-metrics.ts';
import { type Behaviour, json, silence, titledX, until } from '../support/hostile.ts';
import { hasProgram } from '../support/optional.ts';
import { type Program, startProgram } from '../support/program.ts';
import { type Recording, everFiring, firingAfter, promtool, record } from '../support/promtool.ts';
import { hasRedis, redisServer } from '../support/redis.ts';
import { startFacade } from '../support/start-facade.ts';

/** Two minutes. */
const SCRAPES = 9;
const OUTAGE_SECONDS = 120;
const AWAY = { BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9', PORT: '0' };

type Facade = Awaited<ReturnType<typeof startFacade>>;
const times = <T>(count: number, each: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => each(index));
const books = (facade: Facade, from: number, count: number) =>
  Promise.all(times(count, (n) => facade.execute(`query { book(id: "${from + n}") { title } }`)));
const recordFacade = ({ facade }: Facade, between: (index: number) => unknown) =>
  record(() => facade.url, SCRAPES, between);

/** Code that the program runs beside its own. */
const beside = (code: string) => `--import data:text/javascript,${encodeURIComponent(code)}`;

/** An alert may have several faults, which are told apart after a comma. */
const alertOf = (fault: string): string => fault.split(',', 1)[0]!;

/** The Redis of the setting stops. */
async function withoutRedis(setting: string, isReachable: (upstream: Facade['upstream']) => boolean) {
  const redis = await redisServer();
  const facade = await startFacade({}, { [setting]: redis.url });
  await until(() => isReachable(facade.upstream));
  return recordFacade(facade, async (index) => {
    if (index === 1) await redis.stop();
    await until(() => !isReachable(facade.upstream));
  });
}

/** What happened, from the first scrape on; before it there was nothing wrong. */
const faults: Readonly<Record<string, () => Promise<Recording>>> = {
  async CatalogUpstreamAway() {
    const facade = await startFacade();
    facade.books.behave(titledX);
    await books(facade, 1, 3);
    return recordFacade(facade, async (index) => {
      if (index === 1) await facade.books.close();
      await books(facade, index * 10, 6);
    });
  },
  async 'CatalogUpstreamAway, behind a gateway that says so'() {
    const facade = await startFacade({}, { READ_ATTEMPTS: '1' });
    facade.books.behave(titledX);
    await books(facade, 1, 3);
    return recordFacade(facade, (index) => {
      facade.books.behave(json('{}', 502));
      return books(facade, index * 10, 2);
    });
  },
  async CatalogUpstreamAnswers() {
    const facade = await startFacade();
    facade.books.behave(titledX);
    await books(facade, 1, 3);
    return recordFacade(facade, (index) => {
      facade.books.behave((socket, request) => (request.nth % 2 ? titledX : json('<html>'))(socket, request));
      return books(facade, index * 10, 4);
    });
  },
  async 'CatalogUpstreamAnswers, by an unknown member'() {
    const facade = await startFacade();
    facade.books.behave(titledX);
    return recordFacade(facade, (index) => {
      facade.books.behave((socket, request) =>
        json(JSON.stringify({ id: /book.(\d+)/.exec(request.path)![1], title: { zh: 'x' }, surprise: 1 }))(
          socket,
          request,
        ),
      );
      return books(facade, index * 10, 1);
    });
  },
  async CatalogToken() {
    const facade = await startFacade({}, { ACCESS_TOKEN: 'own' });
    facade.books.behave(titledX);
    await books(facade, 1, 3);
    return recordFacade(facade, (index) => {
      facade.books.behave(json('{"code":106,"msg":"access_token_has_expired","request":"x"}', 401));
      return index === 1 ? books(facade, 10, 1) : undefined;
    });
  },
  async CatalogQuota() {
    const env = { ACCESS_TOKEN: 'own', FILM_TIER: 'basic', TRUSTED_PROXIES: '127.0.0.1' };
    const facade = await startFacade({}, env);
    facade.books.behave(titledX);
    const film = (id: number) =>
      facade.execute(`{ subject(id: "${id}") { title } }`, { headers: { 'x-forwarded-for': `10.0.0.${id}` } });
    await film(1);
    return recordFacade(facade, (index) => Promise.all(times(20, (n) => film(index * 20 + n))));
  },
  async CatalogOverload() {
    const facade = await startFacade({ maxRunningOperations: '1', maxWaitingOperations: '0' });
    facade.books.behave(silence);
    const send = () =>
      fetch(`${facade.url}?query={book(id:1){title}}`, { headers: { connection: 'close' } }).catch(() => undefined);
    return recordFacade(facade, async (index) => {
      if (index === 1) void send();
      await until(() => facade.facade.state().operationsRunning === 1);
      await send();
    });
  },
  async CatalogErrors() {
    const facade = await startFacade({}, { HEADERS_TIMEOUT_MS: '20', BREAKER_FAILURES: '1000' });
    facade.books.behave(silence);
    facade.events.behave(silence);
    await facade.execute('{ __typename }');
    return recordFacade(facade, (index) => books(facade, index * 10, 2));
  },
  async CatalogSlow() {
    const facade = await startFacade();
    const slow: Behaviour = (socket, request) => setTimeout(2_600).then(() => titledX(socket, request));
    facade.books.behave(titledX);
    await books(facade, 1, 3);
    return recordFacade(facade, (index) => {
      if (index > 1) return undefined;
      facade.books.behave(slow);
      return books(facade, 10, 10);
    });
  },
  async CatalogEventLoop() {
    // Waiting blocks the loop as work does, but leaves the cores to other tests.
    const block = 'setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300), 310);';
    const program = await startProgram({ ...AWAY, NODE_OPTIONS: beside(block) });
    const recorded = await record(
      () => program.url,
      SCRAPES,
      () => setTimeout(350),
    );
    await program.stop('SIGKILL');
    return recorded;
  },
  async CatalogMemory() {
    const grow = `import v8 from 'node:v8'; const kept = []; globalThis.kept = kept;
      const used = () => { const { used_heap_size, heap_size_limit } = v8.getHeapStatistics(); return used_heap_size / heap_size_limit; };
      setTimeout(() => { while (used() < 0.74) kept.push(new Array(10_000).fill(1.5)); }, 2_000);`;
    const program = await startProgram({
      ...AWAY,
      NODE_OPTIONS: `--max-old-space-size=500 --max-semi-space-size=32 ${beside(grow)}`,
    });
    await setTimeout(2_500);
    const recorded = await record(
      () => program.url,
      SCRAPES,
      () => undefined,
    );
    await program.stop('SIGKILL');
    return recorded;
  },
  ...(hasRedis && {
    CatalogRedisAway: () => withoutRedis('REDIS_URL', ({ redis }) => redis!().isReachable),
    'CatalogRedisAway, of the idempotency keys': () =>
      withoutRedis('IDEMPOTENCY_REDIS_URL', ({ keyRedis }) => keyRedis!().isReachable),
    async 'CatalogRedisAway, by one that is full'() {
      const redis = await redisServer();
      const facade = await startFacade({}, { IDEMPOTENCY_REDIS_URL: redis.url });
      const state = facade.upstream.keyRedis!;
      await until(() => state().isReachable);
      const admin = new Redis(redis.url);
      await admin.config('SET', 'maxmemory', '1');
      admin.disconnect();
      return recordFacade(facade, async () => {
        const { OOM: before = 0 } = state().refusals;
        while ((state().refusals.OOM ?? 0) === before)
          await facade.execute('mutation { deleteNote(input: { id: "Note:1" }) { deletedId } }', {
            headers: { authorization: 'Bearer token', 'idempotency-key': `"${randomUUID()}"` },
          });
      });
    },
  }),
  async CatalogReplica() {
    let program: Program = await startProgram(AWAY);
    const recorded = await record(
      () => program.url,
      SCRAPES,
      async (index) => {
        if (index > 2) return;
        await program.stop('SIGKILL');
        await setTimeout(1_000); // the start has a resolution of a second
        program = await startProgram(AWAY);
      },
    );
    await program.stop('SIGKILL');
    return recorded;
  },
  async 'CatalogReplica, by one that does not start again'() {
    const facade = await startFacade();
    const recorded = await record(
      () => facade.facade.url,
      2,
      () => undefined,
    );
    // Prometheus adds this series itself.
    const scraped = times(SCRAPES, (index) => (index < 2 ? '1' : '0'));
    return recorded.set('up{instance="a:1", job="catalog"}', scraped);
  },
};

describe.skipIf(!hasProgram('promtool'))('the rules of Prometheus', () => {
  test('are valid, and so are the queries of the dashboard', async () => {
    const queries = dashboardQueries().map((query) => query.replaceAll('$__rate_interval', '5m'));
    const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
    expect(await promtool(['check', 'rules'], { groups: [{ name: 'dashboard', rules }] })).toContain('SUCCESS');
    const written = parse(readFileSync('deploy/prometheus/rules.yaml', 'utf8')) as object;
    expect(await promtool(['check', 'rules'], written)).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  test('have an alert for each fault, which fires within two minutes', async () => {
    const found = await Promise.all(
      Object.entries(faults).map(
        async ([alert, fault]) => [alert, await firingAfter(await fault(), OUTAGE_SECONDS)] as const,
      ),
    );
    expect(found.filter(([fault, fired]) => !fired.includes(alertOf(fault)))).toEqual([]);
    // One fault may cause others: without an upstream there are errors too. But no fault fires them all.
    expect(Math.max(...found.map(([, fired]) => fired.length))).toBeLessThan(4);
  });

  test('fire for nothing that happens under ordinary load, and every metric that they and the dashboard name is exposed', async () => {
    const redis = hasRedis ? await redisServer() : undefined;
    const shared = redis && { REDIS_URL: redis.url };
    const program = await startProgram({ PORT: '0', ORIGIN_PORT: '0', ...shared });
    const operations = ['book', 'film', 'search', 'charts', 'event', 'city'].map((page) =>
      readFileSync(`operations/${page}.graphql`, 'utf8'),
    );
    // Users ask for what is gone, and send documents that are wrong.
    const texts = [...operations, '{ book(id: "1") { title } }', ...operations, '{ nothing }'];
    const recorded = await record(
      () => program.url,
      41, // ten minutes; every alert fires within two
      async (index) => {
        const query = texts[index % texts.length];
        const send = () =>
          fetch(`${program.url}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ query }),
          }).then((response) => response.text());
        await Promise.all(times(6, send));
      },
    );
    expect(await everFiring(recorded)).toEqual([]);
    if (redis) {
      const exposed = new Set([...recorded.keys()].map((series) => series.split('{', 1)[0]));
      const text = await (await fetch(`${program.url}/metrics`)).text();
      // Without an error or a limit there is no series yet, but the metric is declared.
      const declared = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
        type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name! + end) : [name!],
      );
      const named = [...alerts.map(({ expression }) => expression), ...dashboardQueries()].flatMap(namesIn);
      expect(named.length).toBeGreaterThan(50);
      expect(named.filter((name) => !exposed.has(name) && !declared.includes(name))).toEqual([]);
    }
    await program.stop();
  });
});

test('there are at most eleven alerts, and a fault for each', () => {
  expect(alerts.length).toBeLessThanOrEqual(11);
  const tested = new Set([...Object.keys(faults).map(alertOf), ...(hasRedis ? [] : ['CatalogRedisAway'])]);
  expect(alerts.map(({ name }) => name).sort()).toEqual([...tested].sort());
});

test('every alert links to its paragraph in the runbook', () => {
  const { groups } = parse(readFileSync('deploy/prometheus/rules.yaml', 'utf8')) as {
    groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
  };
  const page = readFileSync('docs/runbook.md', 'utf8');
  const headings = [...page.matchAll(/^### (.*)$/gm)].map(([, title]) => title!);
  for (const { alert, annotations } of groups.flatMap(({ rules }) => rules)) {
    const [file, anchor] = annotations.runbook.split('#');
    expect(file).toBe('docs/runbook.md');
    const title = headings.find((heading) => anchorOf(heading) === anchor)!;
    expect(page).toContain(`### ${title}\n\n\`${alert}\`. `);
  }
});
