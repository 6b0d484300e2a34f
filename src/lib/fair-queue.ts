/** A fair queue: owners take turns, and within an owner it is first in, first out. Every step is O(1). */

export type FairQueue<T> = ReturnType<typeof createFairQueue<T>>;

export interface FairQueueNode<T> {
  readonly node: QueueNode<T>;
  readonly owner: Owner<T>;
}

/** In the queue of owners while one of its items waits. */
interface Owner<T> {
  items: Queue<T>;
  turn: QueueNode<Owner<T>> | undefined;
}

export function createFairQueue<T>() {
  const owners = new WeakMap<object, Owner<T>>();
  const turns = createQueue<Owner<T>>();

  function endTurn(owner: Owner<T>): void {
    if (owner.turn) unlink(turns, owner.turn);
    owner.turn = owner.items.size > 0 ? append(turns, owner) : undefined;
  }

  const queue = {
    size: 0,
    add(key: object, item: T): FairQueueNode<T> {
      let owner = owners.get(key);
      if (!owner) owners.set(key, (owner = { items: createQueue(), turn: undefined }));
      owner.turn ??= append(turns, owner);
      queue.size++;
      return { node: append(owner.items, item), owner };
    },
    /** False if it is no longer queued. */
    remove({ owner, node }: FairQueueNode<T>): boolean {
      if (!unlink(owner.items, node)) return false;
      queue.size--;
      if (owner.items.size === 0) endTurn(owner);
      return true;
    },
    /** Removes and returns the first item of the next owner, or of this one, which then moves to the end; undefined if there is none. */
    take(key?: object): T | undefined {
      const owner = key ? owners.get(key) : turns.first?.item;
      const node = owner?.items.first;
      if (!owner || !node) return undefined;
      unlink(owner.items, node);
      queue.size--;
      endTurn(owner);
      return node.item;
    },
  };
  return queue;
}

/**
 * A linked list: first in, first out, and any item may leave. Unlike in a Map, removed items are garbage at once; a Map keeps its outgrown
 * tables with all their entries alive until the next full collection.
 */
interface Queue<T> {
  first: QueueNode<T> | undefined;
  last: QueueNode<T> | undefined;
  size: number;
}

interface QueueNode<T> {
  readonly item: T;
  previous: QueueNode<T> | undefined;
  next: QueueNode<T> | undefined;
  isQueued: boolean;
}

const createQueue = <T>(): Queue<T> => ({ first: undefined, last: undefined, size: 0 });

function append<T>(queue: Queue<T>, item: T): QueueNode<T> {
  const node: QueueNode<T> = { item, previous: queue.last, next: undefined, isQueued: true };
  if (queue.last) queue.last.next = node;
  else queue.first = node;
  queue.last = node;
  queue.size++;
  return node;
}

/** False if it was removed before. */
function unlink<T>(queue: Queue<T>, node: QueueNode<T>): boolean {
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
