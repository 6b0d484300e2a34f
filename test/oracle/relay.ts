/** A relay between a replica and its Redis, as a balancer or a NAT is. */
import { type Socket, connect, createServer } from 'node:net';
import { listening } from './redis-programs.ts';

export async function openRelay(target: number) {
  const sockets = new Set<Socket>();
  /** Connections that nothing passes any more, and that are never closed. */
  const dead = new WeakSet<Socket>();
  let delayMs = 0;
  let [connections, delayed] = [0, 0];

  function pass(from: Socket, to: Socket, isReply: boolean): void {
    sockets.add(from);
    /** What is late, in order. */
    const late: Buffer[] = [];
    const write = (data: Buffer) => void (dead.has(from) || to.destroyed || to.write(data));
    from.on('data', (data) => {
      if (!isReply || (delayMs === 0 && late.length === 0)) return write(data);
      delayed++;
      late.push(data);
      setTimeout(() => write(late.shift()!), delayMs);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      // The peer of a half-open connection hears nothing of its end either.
      if (!dead.has(from)) to.destroy();
    });
  }
  const server = createServer((near) => {
    connections++;
    const far = connect(target, '127.0.0.1');
    pass(near, far, false);
    pass(far, near, true);
  });
  const port = await listening(server);
  server.unref();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    connections: () => connections,
    /** How many replies were delayed. */
    delayed: () => delayed,
    /** Closes the connections of now. */
    cut,
    end: () => (server.close(), cut()),
    /** The connections of now pass nothing from now on, and stay open; new ones do. */
    goSilent: () => sockets.forEach((each) => void dead.add(each)),
    /** Replies come so much later from now on. */
    delayReplies: (ms: number) => void (delayMs = ms),
  };
}
