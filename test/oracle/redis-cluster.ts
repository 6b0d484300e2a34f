/** A cluster of six servers, three of them replicas: it fails over, and moves the slot of its keys. */
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { type SharedRedis, clientOf, commandsOf, freePort, say, startProgram } from './redis-programs.ts';

const NODE_TIMEOUT_MS = 500;
/** Primaries refuse to vote on a failover so soon after another. */
const BETWEEN_FAILOVERS_MS = 2.2 * NODE_TIMEOUT_MS;
const POLL_MS = 20;
const PRIMARIES = 3;
/** A replica that did not become the primary by then is asked again. */
const FAILOVER_MS = 6_000;

export async function openCluster(): Promise<SharedRedis> {
  const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
  // Only `failOver` changes primaries: a failover by itself loses what was written last.
  const manual = ['--cluster-replica-no-failover', 'yes'];
  const settings = ['--cluster-enabled', 'yes', ...timeout, ...manual, '--repl-diskless-sync-delay', '0'];
  const ports: number[] = [];
  for (let node = 0; node < 2 * PRIMARIES; node++)
    ports.push((await startProgram(...settings, '--cluster-port', String(await freePort()))).port);
  const nodes = ports.map((port) => `127.0.0.1:${port}`);
  execFileSync('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'], {
    stdio: 'ignore',
  });
  const isWith = (role: string) => async (port: number) =>
    (await say(port, 'info', 'replication')).includes(`role:${role}`);
  async function portsWith(role: string): Promise<number[]> {
    const has = await Promise.all(ports.map(isWith(role)));
    return ports.filter((_, at) => has[at]);
  }
  // For a moment after a failover two nodes take themselves for the primary.
  const isSettled = async () =>
    (await portsWith('master')).length === PRIMARIES &&
    every(ports, async (port) => {
      const [cluster, replication] = await Promise.all([
        say(port, 'cluster', 'info'),
        say(port, 'info', 'replication'),
      ]);
      return cluster.includes('cluster_state:ok') && /role:master|master_link_status:up/.test(replication);
    });
  while (!(await isSettled())) await setTimeout(50);
  let links = 0;
  // Only `failOver` changes them.
  let primaries = await portsWith('master');
  let failedOverAt = -Infinity;
  const sayAll = (...words: [string, ...string[]]) => Promise.all(ports.map((port) => say(port, ...words)));
  return {
    ...commandsOf(() => Promise.resolve(primaries)),
    // Each replica is a user, so that its connections can be told from those of others.
    async link() {
      const user = `replica${links++}`;
      await sayAll('acl', 'setuser', user, 'on', '>secret', '~*', '&*', '+@all');
      return {
        url: `redis+cluster://${user}:secret@${nodes.join(',')}`,
        cut: () => sayAll('client', 'kill', 'user', user),
        end: () => sayAll('acl', 'deluser', user),
      };
    },
    // One after another: nodes that ask for votes at the same time wait for long before they ask again. Each case has its keys in one slot,
    // so mostly one primary has any.
    async failOver() {
      await setTimeout(Math.max(0, failedOverAt + BETWEEN_FAILOVERS_MS - performance.now()));
      for (const port of await portsWith('slave')) {
        if ((await say(port, 'dbsize')) === '0') continue;
        let askedAt = -Infinity;
        while (!(await isWith('master')(port)) || !(await isSettled())) {
          if (performance.now() - askedAt > FAILOVER_MS) {
            askedAt = performance.now();
            await say(port, 'cluster', 'failover').catch(() => undefined); // it may be the primary by now
          }
          await setTimeout(POLL_MS);
        }
      }
      primaries = await portsWith('master');
      failedOverAt = performance.now();
    },
    async moveSlot() {
      const from = await primaryWithKeys(primaries);
      if (from === undefined) return () => Promise.resolve();
      const to = primaries[(primaries.indexOf(from) + 1) % primaries.length]!;
      const { slot, finish } = await beginMove(from, to);
      return async () => {
        await finish();
        const isKnown = async (port: number) => ownerOf(await slotsOf(port), slot) === to;
        await Promise.all(primaries.map((port) => assign(port, slot, to)));
        while (!(await every(ports, isKnown))) await setTimeout(POLL_MS);
      };
    },
  };
}

/** Moves half of the keys of a slot. `finish` moves the others. */
async function beginMove(from: number, to: number) {
  const [key] = await clientOf(from).keys('*');
  const slot = await say(from, 'cluster', 'keyslot', key!);
  await say(to, 'cluster', 'setslot', slot, 'importing', await idOf(from));
  await say(from, 'cluster', 'setslot', slot, 'migrating', await idOf(to));
  const keysLeft = async () => (await clientOf(from).call('cluster', 'getkeysinslot', slot, '1000')) as string[];
  const move = (keys: readonly string[]) =>
    say(from, 'migrate', '127.0.0.1', String(to), '', '0', '5000', 'keys', ...keys);
  const all = await keysLeft();
  if (all.length > 1) await move(all.filter((_, at) => at % 2 === 0));
  return {
    slot: Number(slot),
    finish: async () => {
      for (let left = await keysLeft(); left.length > 0; left = await keysLeft()) await move(left);
      await assign(to, Number(slot), to); // first the new owner: it tells the others
    },
  };
}

const idOf = (port: number): Promise<string> => say(port, 'cluster', 'myid');
const assign = async (port: number, slot: number, owner: number) =>
  say(port, 'cluster', 'setslot', String(slot), 'node', await idOf(owner));

type Range = [first: number, last: number, primary: [host: string, port: number, ...rest: unknown[]], ...unknown[]];
const slotsOf = async (port: number): Promise<Range[]> => (await clientOf(port).call('cluster', 'slots')) as Range[];
const ownerOf = (ranges: readonly Range[], slot: number): number | undefined =>
  ranges.find(([first, last]) => first <= slot && slot <= last)?.[2][1];

async function primaryWithKeys(primaries: readonly number[]): Promise<number | undefined> {
  for (const port of primaries) if ((await say(port, 'dbsize')) !== '0') return port;
  return undefined;
}

async function every(ports: readonly number[], holds: (port: number) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(ports.map(holds))).every(Boolean);
}
