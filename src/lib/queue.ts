/**
 * Those who wait, first come first, and anybody may leave.
 *
 * A Map would do the same, but what it has let go of hangs on its outgrown tables until the next full collection, answers and all.
 */
export interface Queue<T> {
  first: Place<T> | undefined;
  last: Place<T> | undefined;
  size: number;
}

export interface Place<T> {
  readonly who: T;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
  isIn: boolean;
}

export const createQueue = <T>(): Queue<T> => ({ first: undefined, last: undefined, size: 0 });

export function join<T>(queue: Queue<T>, who: T): Place<T> {
  const place: Place<T> = { who, before: queue.last, after: undefined, isIn: true };
  if (queue.last) queue.last.after = place;
  else queue.first = place;
  queue.last = place;
  queue.size++;
  return place;
}

/** False for who had left already. */
export function leave<T>(queue: Queue<T>, place: Place<T>): boolean {
  if (!place.isIn) return false;
  const { before, after } = place;
  if (before) before.after = after;
  else queue.first = after;
  if (after) after.before = before;
  else queue.last = before;
  place.before = place.after = undefined;
  place.isIn = false;
  queue.size--;
  return true;
}

/** As they are now: who leaves meanwhile is among them all the same. */
export function membersOf<T>({ first }: Queue<T>): T[] {
  const members: T[] = [];
  for (let place = first; place; place = place.after) members.push(place.who);
  return members;
}
