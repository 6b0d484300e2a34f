/** A fair queue: owners take turns, and within an owner it is first in, first out. Every step is O(1). */
import { type Place, type Queue, createQueue, join, leave } from './queue.ts';

export interface Turns<T> {
  join: (owner: object, who: T) => Turn<T>;
  /** False if it had left already. */
  leave: (turn: Turn<T>) => boolean;
  /** Removes and returns the first item of the next owner, which then moves to the end; undefined if empty. */
  take: () => T | undefined;
  size: () => number;
}

export interface Turn<T> {
  readonly who: T;
  readonly owner: Owner<T>;
  readonly place: Place<Turn<T>>;
}

/** Has a place in the queue of owners while an item of it waits. */
interface Owner<T> {
  waiting: Queue<Turn<T>>;
  place: Place<Owner<T>> | undefined;
}

export function createTurns<T>(): Turns<T> {
  const owners = new WeakMap<object, Owner<T>>();
  const turns = createQueue<Owner<T>>();
  let size = 0;

  function quit(owner: Owner<T>): void {
    if (owner.place) leave(turns, owner.place);
    owner.place = undefined;
  }

  return {
    join(key, who) {
      let owner = owners.get(key);
      if (!owner) owners.set(key, (owner = { waiting: createQueue(), place: undefined }));
      owner.place ??= join(turns, owner);
      size++;
      return enqueue(owner, who);
    },
    leave({ owner, place }) {
      if (!leave(owner.waiting, place)) return false;
      size--;
      if (owner.waiting.size === 0) quit(owner);
      return true;
    },
    take() {
      const owner = turns.first?.who;
      const turn = owner?.waiting.first?.who;
      if (!owner || !turn) return undefined;
      leave(owner.waiting, turn.place);
      size--;
      quit(owner);
      if (owner.waiting.size > 0) owner.place = join(turns, owner);
      return turn.who;
    },
    size: () => size,
  };
}

function enqueue<T>(owner: Owner<T>, who: T): Turn<T> {
  const turn: { who: T; owner: Owner<T>; place?: Place<Turn<T>> } = { who, owner };
  turn.place = join(owner.waiting, turn as Turn<T>);
  return turn as Turn<T>;
}
