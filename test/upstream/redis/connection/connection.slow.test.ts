import { spawnSync } from 'node:child_process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openRedis } from '../../../../src/upstream/redis/connection/connection.ts';
import { defineScript } from '../../../../src/upstream/redis/scripts/script.ts';
import { type RedisProcess, redisCluster, startRedis } from '../../../support/redis-process.ts';
import { hasRedis, until } from '../../../support/redis.ts';
import { tcpRelay } from '../../../support/tcp-relay.ts';
import { failOnUnhandledErrors } from '../../../support/unhandled.ts';
describe.skipIf(!hasRedis)('a connection to Redis', () => {
  failOnUnhandledErrors();

  /** With a script of two keys, of which the second is never there. */
  async function connect(url: string, { timeoutMs = 500 } = {}) {
    const reported: (string | undefined)[] = [];
    const connection = openRedis({
      url,
      namespace: 'test',
      report: (reason) => void reported.push(reason),
    });
    onTestFinished(connection.close);
    const call = connection.channel({ what: 'echoes', timeoutMs });
    const echo = defineScript(
      connection,
      'echoKey',
      "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])",
    );
    const send = (name: string) => call(() => echo([connection.key(name), connection.key('nothing')], [name]));
    await until(async () => (await send('first')) === 'first');
    return { connection, send, reported };
  }
  /** As the connection names it, without one. */
  function keyOf(name: string): string {
    const connection = openRedis({ url: 'redis://127.0.0.1:1', namespace: 'test' });
    void connection.close();
    return connection.key(name);
  }
  const at = (port: number) => `redis://127.0.0.1:${port}`;
  const admin = (node: RedisProcess, ...words: string[]) =>
    spawnSync('redis-cli', ['-p', String(node.port), ...words], { encoding: 'utf8' }).stdout.trim();

  /** The node that has the slot. */
  const ownerOf = (nodes: readonly RedisProcess[], slot: string) =>
    nodes.find((node) => {
      const [, first, last] = /myself,master - 0 \d+ \d+ connected (\d+)-(\d+)/.exec(admin(node, 'CLUSTER', 'NODES'))!;
      return Number(first) <= Number(slot) && Number(slot) <= Number(last);
    })!;

  describe('whose peer is gone without a word', () => {
    test('is replaced after two seconds without a reply, and works again', async () => {
      const relay = await tcpRelay((await startRedis()).port);
      const { send, connection } = await connect(at(relay.port));
      const before = relay.connections();
      relay.goSilent();
      expect(await send('lost')).toBeUndefined();
      await until(() => relay.connections() > before);
      await until(() => connection.state().isReachable);
      expect(await send('again')).toBe('again');
    });

    test('is replaced while it is made', async () => {
      const relay = await tcpRelay((await startRedis()).port);
      const { send } = await connect(at(relay.port));
      const before = relay.connections();
      relay.delayReplies(10_000);
      relay.cut();
      await until(() => relay.delayed() > 0);
      relay.delayReplies(0);
      await until(async () => (await send('again')) === 'again');
      expect(relay.connections()).toBeGreaterThan(before + 1);
    });

    test('is replaced in a cluster', async () => {
      const { nodes } = await redisCluster();
      const owner = ownerOf(nodes, admin(nodes[0]!, 'CLUSTER', 'KEYSLOT', keyOf('first')));
      const relay = await tcpRelay(owner.port);
      admin(owner, 'CONFIG', 'SET', 'cluster-announce-port', String(relay.port));
      await until(() => nodes.every((node) => admin(node, 'CLUSTER', 'SLOTS').includes(String(relay.port))));
      const { send } = await connect(`redis+cluster://127.0.0.1:${relay.port}`);
      relay.goSilent();
      expect(await send('lost')).toBeUndefined();
      await until(async () => (await send('again')) === 'again');
    });
  });

  test('that Redis closes while it is idle is restored without a report, and one that is lost is reported', async () => {
    const server = await startRedis();
    const relay = await tcpRelay(server.port);
    const { send, reported, connection } = await connect(at(relay.port));
    admin(server, 'CLIENT', 'KILL', 'TYPE', 'normal');
    const isRestored = (connections: number) =>
      relay.connections() === connections && connection.redis.status === 'ready';
    await until(() => isRestored(2));
    relay.cut();
    await until(() => isRestored(3));
    expect([await send('again'), reported]).toEqual(['again', []]);

    server.kill();
    await until(() => reported.length === 1);
    expect(reported[0]).toMatch(/closed|ECONN/);
    await connection.close();
    expect(reported).toHaveLength(1); // its own end is no outage
  });

  test('whose replies are slow is logged once, and each kind of call that was late is counted', async () => {
    const relay = await tcpRelay((await startRedis()).port);
    const { send, reported, connection } = await connect(at(relay.port));
    relay.delayReplies(600);
    await until(async () => (await send('late'), reported.length > 0));
    expect(reported).toEqual(['no answer in time']);
    expect([connection.state().isReachable, connection.redis.status]).toEqual([false, 'ready']);
    const late = () => connection.state().lateReplies;
    expect(late()).toEqual({ echoes: expect.any(Number) as unknown });
    const before = late().echoes!;
    for (let n = 0; n < 30; n++) await send('skipped');
    expect(late().echoes! - before).toBeLessThan(15);
    relay.delayReplies(0);
    await until(async () => (await send('again'), reported.length > 1));
    expect(reported).toEqual(['no answer in time', undefined]);
  });

  describe('to a cluster', () => {
    test('leaves no rejection unhandled when a node that a redirection leads to ends', async () => {
      const { url, nodes } = await redisCluster();
      const { send, connection } = await connect(url);
      const [owner, other] = moveSlot(nodes);
      admin(owner, 'DEL', connection.key('first'));
      process.kill(other.pid, 'SIGSTOP');
      const calls = Promise.all([send('a'), send('b'), send('c')]);
      await until(() => 'echoes' in connection.state().lateReplies);
      other.kill();
      expect(await calls).toEqual([undefined, undefined, undefined]);
      await new Promise((resolve) => setTimeout(resolve, 200));
    });

    test('takes calls again once the slot of the keys has been moved', async () => {
      const { url, nodes } = await redisCluster();
      const { send, connection } = await connect(url, { timeoutMs: 2_000 });
      const [owner, other, slot] = moveSlot(nodes);
      await until(async () => (await send('meanwhile'), (connection.state().refusals.TRYAGAIN ?? 0) > 0));
      admin(owner, 'MIGRATE', '127.0.0.1', String(other.port), connection.key('first'), '0', '5000');
      for (const node of [other, ...nodes])
        admin(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', admin(other, 'CLUSTER', 'MYID'));
      await until(async () => (await send('after')) === 'after');
    });

    /** Begins to move the slot of the keys from the node that has it to another. */
    function moveSlot(nodes: readonly RedisProcess[]) {
      const slot = admin(nodes[0]!, 'CLUSTER', 'KEYSLOT', keyOf('first'));
      const owner = ownerOf(nodes, slot);
      const other = nodes.find((node) => node !== owner)!;
      admin(other, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', admin(owner, 'CLUSTER', 'MYID'));
      admin(owner, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', admin(other, 'CLUSTER', 'MYID'));
      return [owner, other, slot] as const;
    }
  });
});
