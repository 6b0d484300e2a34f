/**
 * The line in which connections stand while there is no room: they are not read until it is their turn, so that what they ask next
 * waits with its client, where it costs nothing. A refusal costs a tenth of an answer and more, and who is refused may ask again at
 * once: without the line, the more is asked, the less is answered.
 */
import type { Socket } from 'node:net';

export interface PausedSockets {
  size: () => number;
  /** To its end. What comes over this connection is read when all before it were. */
  pause: (socket: Socket) => void;
  /** Reads all of them again. */
  resumeAll: () => void;
}

/** The line moves this often; less often where there is much to do. */
const STEP_MS = 10;
/**
 * As many as there is room for leave it, and these: they keep it moving while there is no room. Those of them that ask are refused,
 * at the cost of a part of an answer each, so they are few.
 */
const AT_LEAST = 20;

/** `room` tells how many operations could be taken in. */
export function createPausedSockets(room: () => number): PausedSockets {
  const line = new Set<Socket>();
  let clock: NodeJS.Timeout | undefined;

  function move(): void {
    let next = room() + AT_LEAST;
    for (const socket of line) {
      if (next-- <= 0) break;
      leave(socket);
    }
    clock = line.size > 0 ? setTimeout(move, STEP_MS) : undefined;
  }

  function leave(socket: Socket): void {
    line.delete(socket);
    socket.resume();
  }

  return {
    size: () => line.size,
    pause(socket) {
      if (socket.destroyed) return;
      socket.pause();
      line.add(socket);
      clock ??= setTimeout(move, STEP_MS);
    },
    resumeAll() {
      for (const socket of line) leave(socket);
    },
  };
}
