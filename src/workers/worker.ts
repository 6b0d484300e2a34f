/** A worker: serves requests on the port that all workers share. */
import type { StartedFacade } from '../cli/banner.ts';
import type { Swap, Swapped } from '../server/features/idempotency/store/swap.ts';
import type { UsageReport } from '../server/features/usage/report.ts';
import type { Metrics } from '../server/observability/metrics.ts';
import { openChannel } from './channel.ts';
import type { Assignment } from './primary.ts';

/** `trouble`: why it accepts no work; undefined if it does. */
type OpenedWorker = StartedFacade & { trouble: () => string | undefined };

export type FleetMember = ReturnType<typeof joinFleet>;

/** Connects the worker with the primary process. `end` ends it after its running requests. */
export function joinFleet(end: () => void) {
  let isStopping = false;
  const stop = () => {
    if (!isStopping) end();
    isStopping = true;
  };
  let opened: OpenedWorker | undefined;
  let metrics: Metrics | undefined;
  let usage: (() => UsageReport) | undefined;
  const send = (message: object) => void (process.connected && process.send?.(message, undefined, undefined, ignore));
  const channel = openChannel(
    {
      send,
      onMessage: (listener) => void process.on('message', listener),
      onClose: (listener) => void process.once('disconnect', listener),
    },
    {
      metrics: () => metrics?.values(),
      usage: () => usage?.(),
      acceptsWork: () => opened !== undefined && opened.trouble() === undefined,
      stop,
    },
  );
  // At a terminal it is sent to all processes. The primary process decides when workers stop.
  process.on('SIGINT', ignore);
  process.on('SIGTERM', stop);

  async function ofFleet(question: string): Promise<unknown> {
    const whole = await channel.ask(question, undefined, PRIMARY_REPLY_MS);
    if (whole === undefined) throw new Error('The primary process does not reply.');
    return whole;
  }

  return {
    assignment: async () => (await channel.ask('assignment', undefined, START_MS)) as Assignment,
    othersAcceptWork: async () => (await channel.ask('othersAcceptWork', undefined, PRIMARY_REPLY_MS)) === true,
    swapKeys: async (swap: Swap) => (await channel.ask('swapKeys', swap)) as Swapped | undefined,
    shareMetrics: (own: Metrics) => {
      metrics = own;
      return async () => (await ofFleet('fleetMetrics')) as string;
    },
    shareUsage: (own: () => UsageReport) => {
      usage = own;
      return async () => (await ofFleet('fleetUsage')) as UsageReport;
    },
    async listening(facade: OpenedWorker): Promise<void> {
      opened = facade;
      const { url, upstreams } = facade;
      await channel.ask('listening', { url, upstreams } satisfies StartedFacade, START_MS);
    },
    failed: (message: string) => channel.ask('failed', message, START_MS),
  };
}

/** The primary process may be waiting for other workers, which have less time. */
const PRIMARY_REPLY_MS = 5_000;
/** While a fleet starts, its processes use all cores. */
const START_MS = 60_000;

const ignore = (): void => undefined;
