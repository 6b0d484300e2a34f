/** What runs requests with keys is loaded by the first one, and the locks that replicas share by the first change. */
import { lazily } from '../../../lib/promises.ts';
import type { Core } from '../../core.ts';
import type { Feature } from '../../feature.ts';
import type { KeyedRunner } from './keyed-run.ts';

/** For writes with keys that are in flight when the last client has gone; their outcome is unknown otherwise. */
const DRAIN_MS = 1_000;

export function createIdempotencyFeature({ config, upstream }: Core): Feature {
  let loaded: KeyedRunner | undefined;
  return {
    around(runOperation) {
      const runner = lazily(async () => {
        const { createKeyedRunner } = await import('./keyed-run.ts');
        return (loaded = createKeyedRunner(config, upstream, runOperation));
      });
      const { keyConnection } = upstream;
      if (keyConnection) {
        const leases = lazily(async () => (await import('./change-leases.ts')).createChangeLeases(keyConnection));
        upstream.shareChangeLocks((name) => leases().then((take) => take(name)));
      }
      return (prepared, request) =>
        request.idempotencyKey === undefined
          ? runOperation(prepared, request)
          : runner().then(({ run }) => run(prepared, request));
    },
    /** Waits for the writes whose clients have left. */
    drain: async (withinMs) => loaded?.drain(Math.max(DRAIN_MS, withinMs)),
  };
}
