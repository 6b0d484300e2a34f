import type { Facade } from '../../src/server/server.ts';
import { until } from './hostile.ts';

/** Node warns when too many listeners are added to one emitter. */
const warnings: string[] = [];
process.on('warning', ({ name, message }) => {
  if (name === 'MaxListenersExceededWarning') warnings.push(message);
});

/**
 * Waits until every counter of the facade is zero: slots, waiting operations, requests, upstream calls, permits and timers.
 * Fails if listeners have accumulated. Open client connections count only with `connections`.
 */
export async function expectAtRest(facade: Pick<Facade, 'state'>, { connections = false } = {}): Promise<void> {
  const busy = () =>
    Object.entries(facade.state()).filter(([name, count]) => count !== 0 && (connections || name !== 'connections'));
  await until(() => busy().length === 0).catch(() => {
    const counters = busy().map((each) => each.join(' '));
    throw new Error(`These did not come back to zero: ${counters.join(', ')}`);
  });
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
}
