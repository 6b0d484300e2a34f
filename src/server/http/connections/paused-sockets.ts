/**
 * Pauses connections under overload: a paused connection is not read until its turn, so its next request waits at the client and costs
 * nothing. A rejection costs a tenth of a response or more, and a rejected client may retry at once. Without the pause, throughput falls as
 * load rises.
 */
import type { Socket } from 'node:net';

export type PausedSockets = ReturnType<typeof createPausedSockets>;

/** How often connections are resumed; less often when the event loop is busy. */
const INTERVAL_MS = 10;
/**
 * Connections resumed at each interval beyond those for which there is room, so that the queue moves even without room. Their requests may
 * be rejected, so they are few.
 */
const EXTRA_RESUMED = 20;

/** `freePlaces` returns how many operations may enter. */
export function createPausedSockets(freePlaces: () => number) {
  const queue = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;

  function resumeNext(): void {
    let next = freePlaces() + EXTRA_RESUMED;
    for (const socket of queue) {
      if (next-- <= 0) break;
      resume(socket);
    }
    timer = queue.size > 0 ? setTimeout(resumeNext, INTERVAL_MS) : undefined;
  }

  function resume(socket: Socket): void {
    queue.delete(socket);
    socket.resume();
  }

  return {
    /** The connections that are paused. */
    waiting: queue as ReadonlySet<Socket>,
    /** Stops reading the connection until those paused before it were resumed. */
    pause(socket: Socket): void {
      if (socket.destroyed) return;
      socket.pause();
      queue.add(socket);
      timer ??= setTimeout(resumeNext, INTERVAL_MS);
    },
    /** Resumes all connections. */
    resumeAll(): void {
      for (const socket of queue) resume(socket);
    },
  };
}
