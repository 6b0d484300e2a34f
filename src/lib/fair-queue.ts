/** A fair queue: owners take turns, and within an owner it is first in, first out. Every step is O(1). */
import { type QueueNode, type Queue, createQueue, append, unlink } from './queue.ts';

export interface FairQueue<T> {
  add: (owner: object, who: T) => FairQueueNode<T>;
  /** False if it had left already. */
  remove: (turn: FairQueueNode<T>) => boolean;
  /** Removes and returns the first item of the next owner, which then moves to the end; undefined if empty. */
  take: () => T | undefined;
  size: () => number;
}

export interface FairQueueNode<T> {
  readonly item: T;
  readonly owner: Owner<T>;
  readonly place: QueueNode<FairQueueNode<T>>;
}

/** Has a place in the queue of owners while an item of it waits. */
interface Owner<T> {
  waiting: Queue<FairQueueNode<T>>;
  place: QueueNode<Owner<T>> | undefined;
}

export function createFairQueue<T>(): FairQueue<T> {
  const owners = new WeakMap<object, Owner<T>>();
  const turns = createQueue<Owner<T>>();
  let size = 0;

  function quit(owner: Owner<T>): void {
    if (owner.place) unlink(turns, owner.place);
    owner.place = undefined;
  }

  return {
    add(key, who) {
      let owner = owners.get(key);
      if (!owner) owners.set(key, (owner = { waiting: createQueue(), place: undefined }));
      owner.place ??= append(turns, owner);
      size++;
      return createTurn(owner, who);
    },
    remove({ owner, place }) {
      if (!unlink(owner.waiting, place)) return false;
      size--;
      if (owner.waiting.size === 0) quit(owner);
      return true;
    },
    take() {
      const owner = turns.first?.item;
      const turn = owner?.waiting.first?.item;
      if (!owner || !turn) return undefined;
      unlink(owner.waiting, turn.place);
      size--;
      quit(owner);
      if (owner.waiting.size > 0) owner.place = append(turns, owner);
      return turn.item;
    },
    size: () => size,
  };
}

function createTurn<T>(owner: Owner<T>, item: T): FairQueueNode<T> {
  const turn: { item: T; owner: Owner<T>; place?: QueueNode<FairQueueNode<T>> } = { item, owner };
  turn.place = append(owner.waiting, turn as FairQueueNode<T>);
  return turn as FairQueueNode<T>;
}
