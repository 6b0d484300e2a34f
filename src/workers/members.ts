import type { Worker } from 'node:cluster';
import type { Swap } from '../server/features/idempotency/store/swap.ts';
import { createSwappedEntries } from '../server/features/idempotency/store/memory-entries.ts';
import { type MetricValues, createFleetMetrics } from '../server/observability/fleet-metrics.ts';
import { type UsageReport, mergeReports } from '../server/features/usage/report.ts';
import type { Channel } from './channel.ts';

/** How often each worker is pinged. */
const PING_MS = 1_000;
/** After so many pings without a reply a worker is killed: it is stopped, or its event loop is blocked. */
const MISSED_MAX = 15;

/** The workers that accept requests, and what all of them say together. `onSilent`: a worker has not replied for a long time. */
export function createMembers(onSilent: (worker: Worker) => void, keyTtlSeconds = 0) {
  const channels = new Map<Worker, Channel>();
  /** How many pings in a row each silent worker has not replied to. Other requests are not sent to these workers. */
  const missed = new Map<Worker, number>();
  const metrics = createFleetMetrics(() => channels.size);
  const awake = () => [...channels].filter(([worker]) => !missed.has(worker));
  /** Idempotency keys of all workers, where they share no Redis. */
  const swapKeys = createSwappedEntries(1_000 * keyTtlSeconds);
  setInterval(ping, PING_MS).unref();

  function ping(): void {
    for (const [worker, channel] of channels)
      void channel.ask('acceptsWork', undefined, PING_MS).then((reply) => {
        const count = (missed.get(worker) ?? 0) + 1;
        if (reply !== undefined || !channels.has(worker)) missed.delete(worker);
        else missed.set(worker, count);
        if (missed.get(worker) === MISSED_MAX) onSilent(worker);
      });
  }

  let collecting: Promise<string> | undefined;

  async function collect(): Promise<string> {
    const asked = awake().map(async ([{ id }, channel]) => [id, await channel.ask('metrics')] as const);
    const replied = (await Promise.all(asked)).filter((each): each is [number, MetricValues] => each[1] !== undefined);
    return metrics.text(new Map(replied));
  }

  return {
    add: (worker: Worker, channel: Channel) => void channels.set(worker, channel),
    has: (worker: Worker) => channels.has(worker),
    each: (visit: (worker: Worker) => void): void => [...channels.keys()].forEach(visit),
    remove(worker: Worker): void {
      channels.delete(worker);
      missed.delete(worker);
      void metrics.onEnd(worker.id);
    },
    onRestart: metrics.onRestart,
    /** To questions of workers. Requests for metrics of one time share them. */
    replies: {
      swapKeys: (swap: unknown) => swapKeys(swap as Swap),
      fleetMetrics: () => (collecting ??= collect().finally(() => (collecting = undefined))),
      fleetUsage: async (): Promise<UsageReport | undefined> => {
        const replies = await Promise.all(awake().map(([, channel]) => channel.ask('usage')));
        const reports = replies.filter((each): each is UsageReport => each !== undefined);
        return reports.length > 0 ? mergeReports(reports) : undefined;
      },
    },
    async doOthersAcceptWork(asking: Worker): Promise<boolean> {
      const others = awake().filter(([worker]) => worker !== asking);
      const replies = await Promise.all(others.map(([, channel]) => channel.ask('acceptsWork')));
      return replies.includes(true);
    },
  };
}
