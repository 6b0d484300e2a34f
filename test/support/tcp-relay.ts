/** A relay in front of a server on 127.0.0.1, as a balancer or a NAT is. */
import { type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEachFile } from './hooks.ts';

const running = new Set<() => void>();
afterEachFile(() => {
  for (const close of running) close();
  running.clear();
});

export async function tcpRelay(targetPort: number) {
  const sockets = new Set<Socket>();
  /** Connections that nothing passes any more, in either direction, and that are never closed. */
  const dead = new WeakSet<Socket>();
  let connections = 0;
  let delayMs = 0;
  let delayed = 0;

  function pipe(from: Socket, to: Socket, isReply: boolean): void {
    const pass = (data: Buffer) => void (dead.has(from) || to.destroyed || to.write(data));
    from.on('data', (data) => {
      if (!isReply || delayMs === 0) return pass(data);
      delayed++;
      setTimeout(pass, delayMs, data);
    });
    from.on('close', () => dead.has(from) || to.destroy());
    from.on('error', () => undefined);
  }
  const server = createServer((client) => {
    connections++;
    const target = connect(targetPort, '127.0.0.1');
    for (const each of [client, target]) sockets.add(each);
    pipe(client, target, false);
    pipe(target, client, true);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  running.add(() => {
    server.close();
    for (const each of sockets) each.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    /** The connections of now pass nothing from now on, and stay open; new ones do. */
    goSilent: () => sockets.forEach((each) => void dead.add(each)),
    /** Replies come so much later. */
    delayReplies: (ms: number) => void (delayMs = ms),
    /** How many replies were delayed. */
    delayed: () => delayed,
    /** Closes the connections of now. */
    cut: () => sockets.forEach((each) => void each.destroy()),
  };
}
