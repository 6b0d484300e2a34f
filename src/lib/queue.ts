/**
 * A linked list: first in, first out, and any item may leave. Unlike in a Map, removed items are garbage at once; a Map keeps its outgrown
 * tables with all their entries alive until the next full collection.
 */
export interface Queue<T> {
  first: QueueNode<T> | undefined;
  last: QueueNode<T> | undefined;
  size: number;
}

export interface QueueNode<T> {
  readonly item: T;
  previous: QueueNode<T> | undefined;
  next: QueueNode<T> | undefined;
  isQueued: boolean;
}

export const createQueue = <T>(): Queue<T> => ({ first: undefined, last: undefined, size: 0 });

export function append<T>(queue: Queue<T>, item: T): QueueNode<T> {
  const node: QueueNode<T> = { item, previous: queue.last, next: undefined, isQueued: true };
  if (queue.last) queue.last.next = node;
  else queue.first = node;
  queue.last = node;
  queue.size++;
  return node;
}

/** False if it was removed before. */
export function unlink<T>(queue: Queue<T>, node: QueueNode<T>): boolean {
  if (!node.isQueued) return false;
  const { previous, next } = node;
  if (previous) previous.next = next;
  else queue.first = next;
  if (next) next.previous = previous;
  else queue.last = previous;
  node.previous = node.next = undefined;
  node.isQueued = false;
  queue.size--;
  return true;
}
