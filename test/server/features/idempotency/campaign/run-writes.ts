/** Makes writes of rows, each by a lane, while their surroundings are disturbed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, createRandom } from '../../../../oracle/random.ts';
import { writeKinds } from '../../../../support/keyed-writes.ts';
import { until } from '../../../../support/redis.ts';
import { type Asked, SETTLE_MS, ask, pursue } from './client.ts';
import { type Intention, commentOn, kindNamed, noteOf, single } from './intentions.ts';
import type { Lane, LaneService, Plan } from './lanes.ts';
import type { Row } from './rows.ts';
import { type Outcome, judge } from './verdict.ts';

export interface Surroundings {
  /** Of facades. */
  urls: readonly string[];
  /** Retries go to the process of the first attempt. */
  isSticky?: boolean;
  /** Called again and again while writes are made, with a pause between. */
  disturb?: ((random: Random) => Promise<unknown>) | undefined;
  pauseMs?: number;
  /** The first disturbances are made even if the writes are over sooner. */
  disturbances?: number;
  /** Called after the last of them: what refuses every write would else refuse those that still run until their clients give up. */
  recover?: () => Promise<unknown>;
  close: () => Promise<unknown>;
}

export interface Campaign {
  name: string;
  service: LaneService;
  rows: readonly Row[];
  writes: number;
  lanes: number;
}

export async function runWrites(campaign: Campaign, surroundings: Surroundings): Promise<Outcome[]> {
  const { name, service, rows, writes } = campaign;
  const { urls, disturb, recover, pauseMs = 1_000, disturbances = 0 } = surroundings;
  const lanes = Array.from({ length: Math.min(campaign.lanes, writes) }, (_, at) =>
    service.lane(`${name.replace(/\W+/g, '-')}-${at}`, at),
  );
  await Promise.all(lanes.map((lane) => introduce(lane, urls)));
  const outcomes: Outcome[] = [];
  let next = 0;
  const random = createRandom(name);
  async function work(lane: Lane): Promise<void> {
    while (next < writes) {
      const number = next++;
      outcomes.push(
        await makeWrite(rows[number % rows.length]!, {
          // Seven has no factor in common with the number of kinds: each row gets all of them.
          turn: 7 * Math.floor(number / rows.length) + (number % rows.length),
          lane,
          service,
          surroundings,
          mark: markOf(name, number),
        }),
      );
    }
  }
  async function disturbAll(): Promise<void> {
    for (let made = 0; disturb && (made < disturbances || next < writes); made++) {
      await sleep(pauseMs * (0.5 + random.next()));
      await disturb(random);
    }
    await recover?.();
  }
  await Promise.all([disturbAll(), ...lanes.map(work)]);
  return outcomes;
}

let runs = 0;
const started = Date.now().toString(36);
/** Of two requests with one key, either may be done before the other comes. */
const APART_MS = 400;
/** Begins with `mark`, so that it is not hidden. */
const markOf = (name: string, number: number): string =>
  `mark${started}x${runs++}x${name.replace(/\W+/g, '')}x${number}x`;

/** The service answers a write with its author: then the facades know whose tokens these are. On a busy machine the first may fail. */
async function introduce(lane: Lane, urls: readonly string[]): Promise<void> {
  const intention = commentOn(await noteOf(lane), 'who is it', lane.direct);
  for (const url of urls)
    for (const token of [lane.token, lane.renewed])
      await until(
        async () => (await ask({ url: () => url, token }, intention.body(), randomUUID())).code === undefined,
      );
}

interface Parts {
  turn: number;
  lane: Lane;
  mark: string;
  service: LaneService;
  surroundings: Surroundings;
}

async function makeWrite(row: Row, { turn, lane, mark, service, surroundings }: Parts): Promise<Outcome> {
  const { random } = lane;
  const { urls, isSticky } = surroundings;
  const kinds = row.kinds?.map(kindNamed) ?? writeKinds;
  const intentions = row.prepare
    ? await row.prepare(lane, mark)
    : [await single(kinds[turn % kinds.length]!, lane.direct, mark)];
  const plan = row.plan?.(random) ?? {};
  service.plan(lane, plan);
  const first = random.int(0, urls.length - 1);
  const urlOf = (attempt: number): string => {
    if (attempt === 0 || isSticky) return urls[first]!;
    return row.retriesAt === 'other' ? urls[(first + 1) % urls.length]! : random.pick(urls);
  };
  const other = () => urls[isSticky ? first : (first + 1) % urls.length]!;
  const key = row.hasOneKey ? randomUUID() : undefined;
  const pursued = await Promise.all(
    intentions.map(async (intention, at) => {
      if (row.hasOneKey) await sleep(random.int(0, APART_MS));
      return pursue({
        intention,
        random,
        key,
        asksAgain: row.asksAgain,
        asked: (attempt): Asked => ({
          url: () => urlOf(attempt),
          token: row.tokenOf?.(lane, { attempt, intention: at, mark }) ?? lane.token,
          signal: attempt === 0 ? leaving(row, random, plan) : undefined,
        }),
        ...(row.between && { between: async () => row.between!({ lane, mark, intention, plan, other }) }),
      });
    }),
  );
  // Also what the service carries out late.
  await until(() => !plan.inFlight);
  service.plan(lane, {});
  const [{ kind, clean }] = intentions as [Intention];
  const reachedOf = () => {
    const reached = service.reached.filter(({ status, body }) => status < 300 && body.includes(mark)).length;
    return kind === 'replaceReview' ? Math.min(1, reached) : reached;
  };
  const isOverdue = service.reached.some(({ afterCloseMs, body }) => afterCloseMs > OVERDUE_MS && body.includes(mark));
  const outcome = await judge(row.name, intentions, pursued, {
    ...{ reachedOf, isOverdue, times: plan.reached?.values() ?? [] },
    isOfOneKey: row.hasOneKey === true,
  });
  await clean?.();
  return outcome;
}

/** A busy machine may carry out a write later than is planned. Soon after this, absence counts. */
const OVERDUE_MS = 0.8 * SETTLE_MS;

/** Aborts when the write is at the step, or after a while. */
function leaving({ leaves }: Row, random: Random, plan: Plan): AbortSignal | undefined {
  const when = leaves?.(random);
  if (when === undefined) return undefined;
  if (typeof when === 'number') return AbortSignal.timeout(when);
  const client = new AbortController();
  plan.onStep = (step) => void (step === when && client.abort());
  return client.signal;
}
