/** What runs requests with keys is loaded by the first one; where replicas share keys, by the first write too. */
import { lazily } from '../../../lib/promises.ts';
import type { Core } from '../../core.ts';
import type { Feature } from '../../feature.ts';
import type { KeyedRunner } from './keyed-run.ts';

/** For writes with keys that are in flight when the last client has gone; their outcome is unknown otherwise. */
const DRAIN_MS = 1_000;

export function createIdempotencyFeature({ config, upstream }: Core): Feature {
  let loaded: KeyedRunner | undefined;
  return {
    keyScripts: async () => (await import('./store/redis-entries.ts')).keyScripts,
    around(runOperation) {
      const runner = lazily(async () => {
        const { createKeyedRunner } = await import('./keyed-run.ts');
        return (loaded = createKeyedRunner(config, upstream, runOperation));
      });
      upstream.watchWrites((write) => {
        if (loaded) loaded.noteWrite(write);
        else if (upstream.redisFor && config.idempotencyTtlSeconds > 0)
          void runner().then(({ noteWrite }) => noteWrite(write));
      });
      if (upstream.redisFor)
        upstream.shareTurns((record, cancellation) => runner().then(({ takeTurn }) => takeTurn(record, cancellation)));
      return (prepared, request) =>
        request.idempotencyKey === undefined
          ? runOperation(prepared, request)
          : runner().then(({ run }) => run(prepared, request));
    },
    /** Waits for the writes whose clients have left. */
    drain: async (withinMs) => loaded?.drain(Math.max(DRAIN_MS, withinMs)),
  };
}
