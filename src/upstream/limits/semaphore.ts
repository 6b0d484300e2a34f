/** A fair semaphore: so many run at once, and the owners of those that wait take turns. */
import { type CancellationToken, waitUnlessCancelled } from '../../lib/cancellation.ts';
import { type FairQueueNode, createFairQueue } from '../../lib/fair-queue.ts';

/** Called when a wait ends. `mayRun`: it runs from now on; else it need not wait any more, and does not count. */
type Begin = (mayRun: boolean) => void;

/** What waits in the queue. */
export type QueueNode = FairQueueNode<Begin>;

export type Semaphore = ReturnType<typeof createSemaphore>;

export function createSemaphore(most: () => number) {
  const queue = createFairQueue<Begin>();
  let running = 0;
  let isPumping = false;

  /** Begins what waits while there is room. Re-entrant calls return at once; the running loop continues. */
  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    try {
      while (queue.size > 0 && running < most()) {
        running++;
        queue.take()!(true);
      }
    } finally {
      isPumping = false;
    }
  }

  const semaphore = {
    running: () => running,
    waiting: () => queue.size,
    /** True if there is room: it runs from now on, and has to leave. */
    enter(): boolean {
      if (queue.size > 0 || running >= most()) return false;
      running++;
      return true;
    },
    wait: (owner: object, begin: Begin): QueueNode => queue.add(owner, begin),
    /** False if the wait has ended. */
    cancelWait: (node: QueueNode): boolean => queue.remove(node),
    /** Waits to enter. Resolves with false if it was dismissed, or could not enter within so many ms; rejects if it is cancelled. */
    async pass(owner: object, cancellation: CancellationToken, withinMs?: number): Promise<boolean> {
      if (semaphore.enter()) return true;
      let timer: NodeJS.Timeout | undefined;
      const wait = waitUnlessCancelled<boolean>(cancellation, (resolve) => {
        const node = queue.add(owner, resolve);
        const leave = () => queue.remove(node);
        if (withinMs !== undefined) timer = setTimeout(() => leave() && resolve(false), withinMs);
        return leave;
      });
      return wait.finally(() => clearTimeout(timer));
    },
    /** Ends the waits of an owner. */
    dismiss(owner: object): void {
      for (let begin = queue.takeOf(owner); begin; begin = queue.takeOf(owner)) begin(false);
    },
    leave(): void {
      running--;
      if (queue.size > 0) pump();
    },
  };
  return semaphore;
}
