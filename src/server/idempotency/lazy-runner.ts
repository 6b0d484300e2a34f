/** What runs requests with keys is loaded by the first one; where replicas share keys, by the first write too. */
import type { Config } from '../../config/settings.ts';
import { lazily } from '../../lib/promises.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { RunKeyed } from '../graphql/keyed.ts';
import type { Pipeline } from '../graphql/pipeline.ts';
import type { KeyedRunner } from './keyed-run.ts';
import type { SwapEntries } from './store/entry-table.ts';

/** For writes with keys that are in flight when the last client has gone; their outcome is unknown otherwise. */
const DRAIN_MS = 1_000;

export function lazyKeyedRunner(
  config: Config,
  upstream: UpstreamClient,
  pipeline: Pipeline,
  swapKeys: SwapEntries | undefined,
) {
  let loaded: KeyedRunner | undefined;
  const runner = lazily(async () => {
    const { createKeyedRunner } = await import('./keyed-run.ts');
    return (loaded = createKeyedRunner(config, upstream, pipeline, swapKeys));
  });
  upstream.watchWrites((write) => {
    if (loaded) loaded.noteWrite(write);
    else if ((upstream.redisFor ?? swapKeys) && config.idempotencyTtlSeconds > 0)
      void runner().then(({ noteWrite }) => noteWrite(write));
  });
  return {
    run: async (): Promise<RunKeyed> => (loaded ?? (await runner())).run,
    /** Waits for the writes whose clients have left, as long as the shutdown may last. */
    async whileShuttingDown(shutdown: Promise<void>): Promise<void> {
      const endsAt = performance.now() + config.shutdownMs;
      await shutdown;
      await loaded?.drain(Math.max(DRAIN_MS, endsAt - performance.now()));
    },
  };
}
