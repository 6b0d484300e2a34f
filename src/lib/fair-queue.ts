/** A fair queue: owners take turns, and within an owner it is first in, first out. */

interface FairQueueOwner<T> {
  nodes: Set<FairQueueNode<T>>;
  first: Iterator<FairQueueNode<T>>;
}

export interface FairQueueNode<T> {
  readonly owner: object;
  readonly item: T;
}

/** Iterators are kept, because a new one passes again over all that has left at the front. What they have passed has left. */
export function createFairQueue<T>() {
  /** Who has something queued, in the order of their turns. */
  const owners = new Map<object, FairQueueOwner<T>>();
  const turns: Iterator<object> = owners.keys();
  const queue = {
    size: 0,
    add(owner: object, item: T): FairQueueNode<T> {
      const node = { owner, item };
      const queued = owners.get(owner);
      if (queued) queued.nodes.add(node);
      else {
        const nodes = new Set([node]);
        owners.set(owner, { nodes, first: nodes.values() });
      }
      queue.size++;
      return node;
    },
    /** False if it is no longer queued. */
    remove(node: FairQueueNode<T>): boolean {
      const nodes = owners.get(node.owner)?.nodes;
      if (!nodes?.delete(node)) return false;
      if (nodes.size === 0) owners.delete(node.owner);
      queue.size--;
      return true;
    },
    /** Removes and returns the first item of the next owner, who then is the last one. */
    take(): T | undefined {
      return queue.size === 0 ? undefined : queue.takeOf(turns.next().value as object);
    },
    /** Removes and returns the first item of an owner, who then is the last one; undefined if nothing of the owner is queued. */
    takeOf(owner: object): T | undefined {
      const queued = owners.get(owner);
      if (!queued) return undefined;
      owners.delete(owner);
      owners.set(owner, queued);
      const node = queued.first.next().value as FairQueueNode<T>;
      queue.remove(node);
      return node.item;
    },
  };
  return queue;
}
