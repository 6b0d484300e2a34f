/** Turns by target in this process, in order of arrival. */
import { addListener, removeListener } from '../../../lib/cancellation.ts';
import type { Waiting } from './key-store.ts';

/** Returns what ends the turn; undefined if the wait is cancelled. */
export type TakeTurn = (target: string, waiting: Waiting) => (() => void) | Promise<(() => void) | undefined>;

export function createTurns(): TakeTurn {
  /** Who waits for the target of a turn. */
  const queues = new Map<string, Set<() => void>>();

  function leave(target: string): void {
    const queue = queues.get(target)!;
    for (const start of queue) return start();
    queues.delete(target);
  }

  return (target, waiting) => {
    const queue = queues.get(target);
    const turn = () => leave(target);
    if (!queue) {
      queues.set(target, new Set());
      return turn;
    }
    waiting.begin();
    const { cancellation } = waiting;
    return new Promise((resolve) => {
      const end = (outcome: (() => void) | undefined) => {
        queue.delete(start);
        removeListener(cancellation, listener);
        resolve(outcome);
      };
      const start = () => end(turn);
      const listener = { onCancel: () => end(undefined) };
      queue.add(start);
      addListener(cancellation, listener);
    });
  };
}
