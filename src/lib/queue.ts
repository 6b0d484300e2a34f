/**
 * Those who wait, first come first, and anybody may leave.
 *
 * A Map would do the same, but what it has let go of hangs on its outgrown tables until the next full collection, answers and all.
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
  const place: QueueNode<T> = { item, previous: queue.last, next: undefined, isQueued: true };
  if (queue.last) queue.last.next = place;
  else queue.first = place;
  queue.last = place;
  queue.size++;
  return place;
}

/** False for who had left already. */
export function unlink<T>(queue: Queue<T>, place: QueueNode<T>): boolean {
  if (!place.isQueued) return false;
  const { previous, next } = place;
  if (previous) previous.next = next;
  else queue.first = next;
  if (next) next.previous = previous;
  else queue.last = previous;
  place.previous = place.next = undefined;
  place.isQueued = false;
  queue.size--;
  return true;
}

/** As they are now: who leaves meanwhile is among them all the same. */
export function itemsOf<T>({ first }: Queue<T>): T[] {
  const members: T[] = [];
  for (let place = first; place; place = place.next) members.push(place.item);
  return members;
}
