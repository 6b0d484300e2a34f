/**
 * A service writes all its documents alike: between the values of one stands what stood there in the last. So the ways that were read with
 * care are kept, from one rest to the next, and a text is first held against them: the markup is compared and nothing but the values is
 * looked at. The same markup says the same, whoever reads it; where a text goes a way of its own, it is read with care again.
 */
import { type Codes, type Piece, pieceOf, standsAt } from './codes.ts';
import { type Cursor, type Values, forget, passValue } from './cursor.ts';

/** What a text is read in. */
export type Holder = 'feed' | 'entry' | 'author';

/** What is known in a holder, between its tag and its end, where no element is open. */
export interface State {
  readonly holder: Holder;
  /** The holder's name as it is written, with its prefix. */
  readonly name: string;
  /** The elements that were there and may be there only once, a bit each. */
  readonly seen: number;
  readonly steps: Step[];
}

/** A piece of markup, and the value behind it; or the last piece before a rest. */
interface Step {
  readonly markup: Piece;
  /** What ends the value. */
  readonly mark: number;
  readonly rest: Rest | undefined;
  readonly next: Step[];
}

/** Where all that came is whole: behind the tag of a holder inside, or behind this holder's own end. */
export interface Rest {
  /** Which part each of the values is that came; -1 for one that nobody reads. */
  readonly places: readonly number[];
  /** What holds what comes now; undefined where its tag was its own end. */
  readonly inside: State | undefined;
  /** What holds what comes then; undefined at the end. */
  readonly then: State | undefined;
  readonly opened: Holder | undefined;
}

/** All ways that begin with one head. */
export interface Ways {
  /** In the root, where nothing is read yet. */
  readonly first: State;
  readonly states: Map<string, State>;
  /** What they take, in bytes. */
  size: number;
}

export function createWays(root: Holder, name: string): Ways {
  const first: State = { holder: root, name, seen: 0, steps: [] };
  return { first, states: new Map([[keyOf(name, 0), first]]), size: 0 };
}

/** More than a service has; what never repeats must not fill the memory. */
const SIZE_MAX = 500_000;
const WAY_MAX = 10_000;
const CHOICES_MAX = 16;
/** Of a step or a state, beside its markup. */
const OVERHEAD = 100;
export const isFull = ({ size }: Ways): boolean => size > SIZE_MAX;

/** Two ways to the same state go on as one. */
export function stateOf(ways: Ways, holder: Holder, name: string, seen: number): State {
  const key = keyOf(name, seen);
  let state = ways.states.get(key);
  if (!state) {
    state = { holder, name, seen, steps: [] };
    ways.states.set(key, state);
    ways.size += OVERHEAD;
  }
  return state;
}

const keyOf = (name: string, seen: number) => `${seen} ${name}`;

/** Goes to the next rest on a known way; undefined, and where it was, if there is none. */
export function walk(cursor: Cursor, { steps }: State): Rest | undefined {
  const { codes, values } = cursor;
  let { at } = cursor;
  forget(values);
  for (;;) {
    const step = stepAt(codes, at, steps);
    if (step === undefined) return undefined;
    at += step.markup.length;
    if (step.rest !== undefined) {
      cursor.at = at;
      return step.rest;
    }
    at = passValue(cursor, at, step.mark);
    steps = step.next;
  }
}

/** No two of them fit: what follows a value is cut at the same places whenever it is read. */
function stepAt(codes: Codes, at: number, steps: readonly Step[]): Step | undefined {
  for (const step of steps) if (standsAt(codes, at, step.markup)) return step;
  return undefined;
}

/** Keeps the way from there to where the cursor is now, past the values that it has, each with its mark. */
export function learn(
  ways: Ways,
  { codes, values, at }: Cursor,
  state: State,
  from: number,
  marks: readonly number[],
  rest: Rest,
): void {
  if (isFull(ways) || markupOf(values, at - from) > WAY_MAX) return;
  let { steps } = state;
  let start = from;
  for (const [i, mark] of marks.entries()) {
    const end = values.starts[i]!;
    // A way often leaves another only after a while.
    let step = stepAt(codes, start, steps);
    if (!step || step.rest || step.markup.length !== end - start) {
      step = { markup: pieceOf(codes, start, end), mark, rest: undefined, next: [] };
      addStep(ways, steps, step);
    }
    steps = step.next;
    start = values.ends[i]!;
  }
  addStep(ways, steps, { markup: pieceOf(codes, start, at), mark: 0, rest, next: [] });
}

function addStep(ways: Ways, steps: Step[], step: Step): void {
  if (steps.length === CHOICES_MAX) steps.shift();
  steps.push(step);
  ways.size += OVERHEAD + step.markup.length;
}

/** How much of a piece of that length is markup: values do not count, and may be long. */
function markupOf({ count, starts, ends }: Values, length: number): number {
  let rest = length;
  for (let i = 0; i < count; i++) rest -= ends[i]! - starts[i]!;
  return rest;
}
