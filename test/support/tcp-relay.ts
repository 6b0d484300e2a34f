import { openRelay } from '../oracle/relay.ts';
import { afterEachFile } from './hooks.ts';

const running = new Set<() => void>();
afterEachFile(() => {
  for (const close of running) close();
  running.clear();
});

/** A relay in front of a Redis, closed after the tests of the file. */
export async function tcpRelay(targetPort: number) {
  const relay = await openRelay(targetPort);
  running.add(relay.end);
  return relay;
}
