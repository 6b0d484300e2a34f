/** What runs requests with keys is loaded by the first one; where replicas share keys, by the first write too. */
import type { Config } from '../../config/settings.ts';
import { lazily } from '../../lib/promises.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { Prepared } from '../../engine/documents/prepare.ts';
import type { Outcome } from '../graphql/outcome.ts';
import type { RunOperation } from '../graphql/pipeline.ts';
import type { OperationRequest } from '../graphql/request.ts';
import type { KeyedRunner } from './keyed-run.ts';
import type { SwapEntries } from './store/swap.ts';

/** For writes with keys that are in flight when the last client has gone; their outcome is unknown otherwise. */
const DRAIN_MS = 1_000;

export function lazyKeyedRunner(
  config: Config,
  upstream: UpstreamClient,
  runOperation: RunOperation,
  swapKeys: SwapEntries | undefined,
) {
  let loaded: KeyedRunner | undefined;
  const runner = lazily(async () => {
    const { createKeyedRunner } = await import('./keyed-run.ts');
    return (loaded = createKeyedRunner(config, upstream, runOperation, swapKeys));
  });
  upstream.watchWrites((write) => {
    if (loaded) loaded.noteWrite(write);
    else if ((upstream.redisFor ?? swapKeys) && config.idempotencyTtlSeconds > 0)
      void runner().then(({ noteWrite }) => noteWrite(write));
  });
  return {
    /** Runs every operation: what has a key by the runner of keys. */
    run: (prepared: Prepared, request: OperationRequest): Promise<Outcome> =>
      request.idempotencyKey === undefined
        ? runOperation(prepared, request)
        : runner().then(({ run }) => run(prepared, request)),
    /** Waits for the writes whose clients have left, as long as the shutdown may last. */
    async whileShuttingDown(shutdown: Promise<void>): Promise<void> {
      const endsAt = performance.now() + config.shutdownMs;
      await shutdown;
      await loaded?.drain(Math.max(DRAIN_MS, endsAt - performance.now()));
    },
  };
}
