/**
 * Those who wait, first come first, and anybody may leave.
 *
 * A Map would do the same, but what it has let go of hangs on its outgrown tables until the next full collection, answers and all.
 */
export interface Line<T> {
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

export const createLine = <T>(): Line<T> => ({ first: undefined, last: undefined, size: 0 });

export function join<T>(line: Line<T>, who: T): Place<T> {
  const place: Place<T> = { who, before: line.last, after: undefined, isIn: true };
  if (line.last) line.last.after = place;
  else line.first = place;
  line.last = place;
  line.size++;
  return place;
}

/** False for who had left already. */
export function leave<T>(line: Line<T>, place: Place<T>): boolean {
  if (!place.isIn) return false;
  const { before, after } = place;
  if (before) before.after = after;
  else line.first = after;
  if (after) after.before = before;
  else line.last = before;
  place.before = place.after = undefined;
  place.isIn = false;
  line.size--;
  return true;
}
