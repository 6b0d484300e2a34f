/**
 * A day of reads at 40 calls a minute: `npm run bench:day`. Readers ask for 2,000 films, popular ones more often (Zipf), on a clock that this
 * program sets: upstream layer, cache, rate limit and refreshing are those of the product, only the service and the clock are not.
 */
import { catalogService } from '../src/graph/service/descriptor.ts';
import { serviceHeaders } from '../src/api/service-headers.ts';
import { filmEndpoints, subjectMembers } from '../src/api/film.ts';
import { readConfig } from '../src/config/read.ts';
import { createCancellationToken } from '../src/lib/cancellation.ts';
import { createUpstream } from '../src/upstream/client.ts';
import { RateLimited } from '../src/upstream/errors.ts';
import type { ServiceState } from '../src/upstream/http/pool.ts';
import { film } from './records.ts';

const FILMS = 2_000;
const DAY_MS = 86_400_000;
/** On average; at night a fifth of it, at noon nine fifths. */
const READS_A_MINUTE = [60, 200];
const READERS = 200;
const CALL_MS = 300;

const clock = setClock();
const weights = Array.from({ length: FILMS }, (_, at) => 1 / (at + 1));
const total = weights.reduce((sum, each) => sum + each, 0);
const source = {
  endpoint: filmEndpoints.subject,
  input: (id: string) => ({ id }),
  members: Object.keys(subjectMembers),
  tiers: subjectMembers,
};

console.log(
  '| reads a minute | REVALIDATE_SECONDS | reads | wait for upstream | refused | too old | oldest, s | calls/min, most |',
);
console.log('| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const reads of READS_A_MINUTE) for (const seconds of ['0', '3600', '14400']) await day(reads, seconds);
process.exit(0);

async function day(readsAMinute: number, revalidateSeconds: string): Promise<void> {
  const random = seeded(7);
  const calls: number[] = [];
  const idle: ServiceState = { origin: 'http://catalog.example', isOpen: false, running: 0, waiting: 0 };
  const settings = readConfig({}, { accessToken: 'bench', filmTier: 'basic', revalidateSeconds });
  const upstream = createUpstream(
    catalogService,
    { ...settings, baseUrl: 'http://catalog.example', eventBaseUrl: 'http://events.example' },
    {
      transport: {
        async send({ path }) {
          calls.push(clock.now());
          await new Promise<void>((resolve) => void setTimeout(resolve, CALL_MS));
          // The title says when it was sent, which shows the true age of what a reader gets.
          const text = JSON.stringify({ ...film(Number(/(\d+)(?:\?|$)/.exec(path)![1])), title: String(clock.now()) });
          return { status: 200, headers: serviceHeaders, text, isMended: false, bytes: text.length, attempts: 1 };
        },
        state: () => ({ catalog: idle, events: idle }),
        close: () => Promise.resolve(),
      },
    },
  );
  const oldestAllowed = 1000 * (filmEndpoints.subject.freshSeconds! + Number(revalidateSeconds));
  const result = { reads: 0, waited: 0, refused: 0, tooOld: 0, oldest: 0 };
  const start = clock.now();
  const read = async (): Promise<void> => {
    const address = `reader ${Math.floor(random() * READERS)}`;
    const operation = upstream.forOperation(
      { authorization: undefined, address, requestId: 'bench' },
      createCancellationToken(),
    );
    const id = filmAt(random() * total);
    const loaded = operation.records.load('Subject', source, id, ['rating', 'title', 'year'], { id }, undefined);
    result.reads++;
    if (loaded instanceof Promise) result.waited++;
    try {
      const age = clock.now() - Number((await loaded)!.title);
      result.oldest = Math.max(result.oldest, age);
      if (age > oldestAllowed) result.tooOld++;
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
      result.refused++;
    }
  };
  for (let at = start; at < start + DAY_MS;) {
    const share = 1 - 0.8 * Math.cos((2 * Math.PI * (at - start)) / DAY_MS);
    at += (-Math.log(1 - random()) * 60_000) / (readsAMinute * share);
    await clock.runUntil(at);
    void read();
    await settled();
  }
  await clock.runUntil(clock.now() + 60_000);
  await upstream.close();
  const { reads, waited, refused, tooOld, oldest } = result;
  const most = calls.reduce((most, from, at) => {
    let until = at;
    while (until < calls.length && calls[until]! < from + 60_000) until++;
    return Math.max(most, until - at);
  }, 0);
  const wait = `${waited} (${((100 * waited) / reads).toFixed(1)} %)`;
  console.log(
    `| ${readsAMinute} | ${revalidateSeconds} | ${reads} | ${wait} | ${refused} | ${tooOld} | ${(oldest / 1000).toFixed(0)} | ${(calls.length / 1440).toFixed(1)}, ${most} |`,
  );
}

function filmAt(weight: number): string {
  let at = 0;
  for (let left = weight; at < FILMS - 1 && left > weights[at]!; at++) left -= weights[at]!;
  return String(at + 1);
}

/** Always the same numbers. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Until everything has run that waits for no timer. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Timers and times of this process from now on: they advance only by `runUntil`. */
function setClock() {
  const begun = Date.now();
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  Date.now = () => Math.floor(begun + now);
  performance.now = () => now;
  const set = (run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) => {
    const timer = { at: now + Math.max(1, ms), run: () => run(...values), ref: () => timer, unref: () => timer };
    timers.push(timer);
    return timer;
  };
  Reflect.set(globalThis, 'setTimeout', set);
  Reflect.set(globalThis, 'clearTimeout', (timer: unknown) => void (timers = timers.filter((each) => each !== timer)));
  return {
    now: () => now,
    async runUntil(end: number): Promise<void> {
      for (;;) {
        const next = timers.reduce((first, each) => (each.at < first ? each.at : first), Infinity);
        if (next > end) break;
        now = Math.max(now, next);
        const due = timers.filter(({ at }) => at <= now);
        timers = timers.filter(({ at }) => at > now);
        for (const { run } of due) run();
        await settled();
      }
      now = end;
    },
  };
}
