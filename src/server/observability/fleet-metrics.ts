/** The metrics of several workers as one: sums, as if one process had done it all. */
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

export type MetricValues = Awaited<ReturnType<Metrics['values']>>;

export function createFleetMetrics(countWorkers: () => number) {
  const own = new Registry();
  /** What ended workers had counted at their last scrape, because a sum that gets smaller looks like a restart of all. */
  let ended: MetricValues = [];
  const last = new Map<number, MetricValues>();
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [own] });
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [own] });
  const workers = gauge('catalog_workers', 'Workers that run; without WORKERS there is no such metric.');
  // prom-client omits those of the workers. The first of the list is that of the primary process, whose start is that of all.
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    registers: [own],
    aggregator: 'first',
  }).set(Math.round(performance.timeOrigin / 1_000));
  const restarts = counter('catalog_worker_restarts_total', 'Workers started in place of one that ended.');

  return {
    onRestart: () => restarts.inc(),
    async onEnd(worker: number): Promise<void> {
      const counted = (last.get(worker) ?? []).filter(({ type }) => COUNTED.includes(String(type)));
      last.delete(worker);
      ended = await sum([ended, counted]).getMetricsAsJSON();
    },
    /** The Prometheus text format; `current` has the values of each worker, by its id. */
    async text(current: ReadonlyMap<number, MetricValues>): Promise<string> {
      for (const [worker, values] of current) last.set(worker, values);
      workers.set(countWorkers());
      return sum([await own.getMetricsAsJSON(), ended, ...last.values()]).metrics();
    },
  };
}

/** Types of metrics that only grow. */
const COUNTED: readonly string[] = ['counter', 'histogram'];

const sum = (values: readonly MetricValues[]): Registry => AggregatorRegistry.aggregate([...values]);
