/** Logs operations that take long, with their calls. */
import type { Logger } from 'pino';
import type { Operation } from '../../upstream/operation.ts';

/** Clients choose the names, which may be as long as a document. */
const NAME_MAX = 100;

/** Returns a function to be called at the end of an operation. */
export const createSlowLog =
  (log: Logger, thresholdMs: number) =>
  ({ callLog }: Operation, name: string | undefined, requestId: string): void => {
    if (thresholdMs === 0) return;
    const ms = performance.now() - callLog.started;
    if (ms < thresholdMs) return;
    const sent = callLog.calls.filter(({ cached }) => !cached);
    const slowest = sent.reduce((a, b) => (b.ms > (a?.ms ?? -1) ? b : a), sent[0]);
    const facts = {
      requestId,
      operation: name?.slice(0, NAME_MAX),
      ms: Math.round(ms),
      calls: sent.length,
      ...(slowest && {
        slowest: `${slowest.method} ${slowest.wirePath.split('?', 1)[0]}`,
        slowestMs: Math.round(slowest.ms),
      }),
    };
    log.info(facts, 'slow operation');
  };
