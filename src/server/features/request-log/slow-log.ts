/** The log of slow operations, with their calls. */
import type { Logger } from 'pino';
import { wasSent } from '../../../upstream/call-log.ts';
import type { EndedOperation } from '../../graphql/ended-operation.ts';

/** Clients choose the names, which may be as long as a document. */
const NAME_MAX = 100;

/** Undefined if it is off. */
export function createSlowLog(log: Logger, thresholdMs: number): ((operation: EndedOperation) => void) | undefined {
  if (thresholdMs === 0) return undefined;
  return ({ requestId, operation, session }) => {
    if (!session) return;
    const { started, calls } = session.callLog;
    const ms = performance.now() - started;
    if (ms < thresholdMs) return;
    const sent = calls.filter(wasSent);
    const slowest = sent.reduce((a, b) => (b.ms > (a?.ms ?? -1) ? b : a), sent[0]);
    const facts = {
      requestId,
      operation: operation?.name?.slice(0, NAME_MAX),
      ms: Math.round(ms),
      calls: sent.length,
      ...(slowest && {
        slowest: `${slowest.method} ${slowest.wirePath.split('?', 1)[0]}`,
        slowestMs: Math.round(slowest.ms),
      }),
    };
    log.info(facts, 'slow operation');
  };
}
