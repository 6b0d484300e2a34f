import type { Worker } from 'node:cluster';
import { type MetricValues, createFleetMetrics } from '../server/observability/fleet-metrics.ts';
import { type UsageReport, mergeReports } from '../server/usage/report.ts';
import type { Channel } from './channel.ts';

/** The workers that accept requests, and what all of them say together. */
export function createMembers() {
  const channels = new Map<Worker, Channel>();
  const metrics = createFleetMetrics(() => channels.size);
  let collecting: Promise<string> | undefined;

  async function collect(): Promise<string> {
    const asked = [...channels].map(async ([{ id }, channel]) => [id, await channel.ask('metrics')] as const);
    const replied = (await Promise.all(asked)).filter((each): each is [number, MetricValues] => each[1] !== undefined);
    return metrics.text(new Map(replied));
  }

  return {
    add: (worker: Worker, channel: Channel) => void channels.set(worker, channel),
    has: (worker: Worker) => channels.has(worker),
    each: (visit: (worker: Worker) => void): void => [...channels.keys()].forEach(visit),
    remove(worker: Worker): void {
      channels.delete(worker);
      void metrics.onEnd(worker.id);
    },
    onRestart: metrics.onRestart,
    /** To questions of workers. Requests for metrics of one time share them. */
    replies: {
      fleetMetrics: () => (collecting ??= collect().finally(() => (collecting = undefined))),
      fleetUsage: async (): Promise<UsageReport | undefined> => {
        const replies = await Promise.all([...channels.values()].map((channel) => channel.ask('usage')));
        const reports = replies.filter((each): each is UsageReport => each !== undefined);
        return reports.length > 0 ? mergeReports(reports) : undefined;
      },
    },
    async doOthersAcceptWork(asking: Worker): Promise<boolean> {
      const others = [...channels].filter(([worker]) => worker !== asking);
      const replies = await Promise.all(others.map(([, channel]) => channel.ask('acceptsWork')));
      return replies.includes(true);
    },
  };
}
