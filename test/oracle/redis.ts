/** The Redis between replicas: one server or a cluster, started once a run. */
import { openCluster } from './redis-cluster.ts';
import { type SharedRedis, clientOf, commandsOf, startProgram } from './redis-programs.ts';
import { openRelay } from './relay.ts';

async function openServer(): Promise<SharedRedis> {
  const { port, restart } = await startProgram();
  return {
    ...commandsOf(() => Promise.resolve([port])),
    link: () => openRelay(port),
    keepSnapshot: () => clientOf(port).save(),
    restore: restart,
  };
}

let opened: Promise<SharedRedis> | undefined;
export const sharedRedis = (isCluster: boolean): Promise<SharedRedis> =>
  (opened ??= isCluster ? openCluster() : openServer());
