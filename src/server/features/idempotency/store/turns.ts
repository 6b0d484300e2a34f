/** Turns of writes to a target, and the state of the target. A turn holds each name of the target. */
import { randomUUID } from 'node:crypto';
import { type CancellationToken, unlessCancelled } from '../../../../lib/cancellation.ts';
import { type TargetChange, type TargetState, freshState, joinStates, withChange, withState } from './entries.ts';
import { type Draft, type EntryTable, type Reply, after } from './entry-table.ts';
import type { TurnHeld } from './key-run.ts';
import type { Targets } from './names.ts';
import { PLACE_MS, holds, keepPlaces, placesIn, withPlace, withoutPlace } from './places.ts';

/** The right to write to a target. */
export interface Turn extends TurnHeld {
  readonly state: TargetState;
  readonly changes: readonly TargetChange[];
  readonly now: number;
  /** Ends the turn, and stores the state for the next one. */
  leave: (state: TargetState) => void;
}

/** Waits for something that another request holds. */
export interface Waiting {
  readonly cancellation: CancellationToken;
  /** Called before the first wait. Throws if too many wait. */
  begin: () => void;
}

/** Undefined if the wait is cancelled, or the store cannot be reached. */
export async function takeTurn(table: EntryTable, targets: Targets, waiting: Waiting): Promise<Turn | undefined> {
  const ticket = randomUUID();
  let freed: Promise<void> | undefined;
  try {
    for (;;) {
      const turn = await table.update(targets, (draft, now) => look(table, targets, ticket, draft, now));
      if (!turn || waiting.cancellation.reason) break;
      if (turn.isFirst) {
        const stop = keepPlaces(table, targets, ticket);
        return { ...turn, ticket, targets, leave: (state) => (stop(), void leaveTurn(table, targets, ticket, state)) };
      }
      if (freed) await unlessCancelled(freed, waiting.cancellation);
      else waiting.begin();
      // Registered before the next look, so that no change is missed.
      freed = table.freed([ticket]);
    }
  } catch (error) {
    void leaveTurn(table, targets, ticket);
    throw error;
  }
  void leaveTurn(table, targets, ticket);
  return undefined;
}

/** Takes a place, or keeps it once it is half over. */
function look({ isShared }: EntryTable, targets: Targets, ticket: string, draft: Draft, now: number) {
  let isFirst = true;
  for (const target of targets) {
    const entry = draft.get(target);
    const places = placesIn(entry, now);
    const own = places.find((each) => each.ticket === ticket);
    if (places.length > 0 && places[0] !== own) isFirst = false;
    const until = isShared ? now + PLACE_MS : Infinity;
    if (!own || own.until - now < PLACE_MS / 2) draft.set(target, withPlace(entry, { ticket, until }, now));
  }
  const entries = targets.map(draft.get);
  const changes = entries.flatMap((entry) => entry?.changes ?? []);
  return { isFirst, state: joinStates(entries.map((entry) => entry?.target)), changes, now };
}

function leaveTurn(table: EntryTable, targets: Targets, ticket: string, state?: TargetState): Reply<void> {
  const left = table.update(targets, (draft, now) => {
    for (const [at, target] of targets.entries()) {
      const entry = draft.get(target);
      const known = entry?.target ?? freshState;
      // A write with a key that another owner claimed looks for the last one under the name of that owner.
      const left = at === 0 || !state ? state : { ...known, last: state.last ?? known.last };
      draft.set(target, withoutPlace(left && holds(entry, ticket, now) ? withState(entry, left) : entry, ticket));
    }
    return targets.flatMap((target) => placesIn(draft.get(target), now)[0]?.ticket ?? []);
  });
  return after(left, (next) => next && table.free(next));
}

/** Records a write to the target that was made without a turn. */
export const noteChange = (table: EntryTable, targets: readonly string[], id: string | undefined): Reply<void> =>
  table.update(targets, (draft, now) => {
    for (const target of targets) draft.set(target, withChange(draft.get(target), { at: now, id }));
  });
