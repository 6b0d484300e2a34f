/** Turns of writes to a target. A turn holds each name of the target. */
import { randomUUID } from 'node:crypto';
import { type ChangeTarget, type TargetEvent, holderOf, leavePlace, takePlace } from './entries.ts';
import { type Busy, type Draft, type EntryTable, type Reply, type Waiting, after } from './entry-table.ts';
import type { TurnHeld } from './key-run.ts';
import type { Targets } from './names.ts';

/** The right to write to a target, and what was written to it before. */
export interface Turn extends TurnHeld {
  readonly events: readonly TargetEvent[];
  readonly changedAt: number;
  readonly now: number;
  /** Ends the turn. `change`: what is known now of its own write. */
  leave: (change?: ChangeTarget) => void;
}

type Seen = Pick<Turn, 'events' | 'changedAt' | 'now'>;

/** Undefined if the wait is cancelled, or the store cannot be reached. */
export async function takeTurn(table: EntryTable, targets: Targets, waiting: Waiting): Promise<Turn | undefined> {
  const ticket = randomUUID();
  let hasTurn = false;
  try {
    const seen = await table.untilFree((draft) => look(table, targets, ticket, draft), waiting);
    if (!seen) return undefined;
    hasTurn = true;
    const stop = table.keepPlaces(targets, ticket);
    return { ...seen, ticket, targets, leave: (change) => (stop(), void leaveTurn(table, targets, ticket, change)) };
  } finally {
    if (!hasTurn) void leaveTurn(table, targets, ticket);
  }
}

/** Takes a place, or renews it once it is half over. */
function look({ placeMs }: EntryTable, targets: Targets, ticket: string, { now, get, edit }: Draft): Seen | Busy {
  let isFirst = true;
  for (const target of targets) {
    const own = get(target).places?.find((each) => each.ticket === ticket);
    if (!own || own.until - now < placeMs / 2) takePlace(edit(target), { ticket, until: now + placeMs }, now);
    if (holderOf(get(target), now) !== ticket) isFirst = false;
  }
  if (!isFirst) return { busy: [ticket] };
  const known = targets.flatMap((target) => get(target).target ?? []);
  return {
    events: ([] as TargetEvent[]).concat(...known.map(({ events }) => events)),
    changedAt: Math.max(0, ...known.map(({ changedAt }) => changedAt)),
    now,
  };
}

function leaveTurn(table: EntryTable, targets: Targets, ticket: string, change?: ChangeTarget): Reply<void> {
  const left = table.change(({ now, get, edit }) => {
    if (change && holderOf(get(targets[0]), now) === ticket) change(edit(targets[0]), now);
    for (const target of targets) leavePlace(edit(target), ticket);
    return targets.flatMap((target) => holderOf(get(target), now) ?? []);
  });
  return after(left, (next) => next && table.free(next));
}

/** Records a write to the target that was made without a turn. */
export const changeTargets = (table: EntryTable, targets: readonly string[], change: ChangeTarget): Reply<unknown> =>
  table.change(({ now, edit }) => {
    for (const target of targets) change(edit(target), now);
  });
