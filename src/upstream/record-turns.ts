/**
 * Turns of the writes that keep what they do not name: between the read and the PUT of one, no other writes to the record. In this process
 * they queue; processes that share a store have a lease in it, which ends soon after its holder died.
 */
import { LRUCache } from 'lru-cache';
import { type CancellationToken, unlessCancelled } from '../lib/cancellation.ts';
import { atMost } from '../lib/remember.ts';

/** The right to read and write a record. Times are by one clock. */
export interface RecordTurn {
  /** When it was taken. */
  readonly now: number;
  /** When the last turn before it ended, as far as that is known. */
  readonly endedAt: number;
  readonly leave: () => void;
}

/** Undefined if the store cannot be reached, or the wait is cancelled. */
export type TakeTurn = (record: string, cancellation: CancellationToken) => Promise<RecordTurn | undefined>;

/** Records whose last turn is remembered. */
const ENDED_MAX = 10_000;

export interface RecordTurns {
  /** Processes that share a store take turns in it too. */
  share: (take: TakeTurn) => void;
  /** Undefined if the wait is cancelled. */
  take: TakeTurn;
}

export function createRecordTurns(): RecordTurns {
  /** The end of the last turn that is taken or waited for. */
  const last = new Map<string, Promise<void>>();
  const ended = new LRUCache<string, number>(atMost(ENDED_MAX));
  let shared: TakeTurn | undefined;

  /** Waits for the turns of this process. Returns what ends the own one. */
  async function queue(record: string, cancellation: CancellationToken): Promise<(() => void) | undefined> {
    const before = last.get(record);
    let end = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      end = () => {
        if (last.get(record) === after) last.delete(record);
        resolve();
      };
    });
    // Who is cancelled lets the next one through, and not before the one that has the turn.
    const after: Promise<void> = before ? before.then(() => own) : own;
    last.set(record, after);
    if (!before || (await unlessCancelled(before, cancellation))) return end;
    end();
    return undefined;
  }

  return {
    share(take) {
      shared = take;
    },
    async take(record, cancellation) {
      const end = await queue(record, cancellation);
      if (!end) return undefined;
      const now = performance.now();
      const endedAt = ended.get(record) ?? 0;
      const own = {
        now,
        endedAt,
        leave: () => {
          ended.set(record, performance.now());
          end();
        },
      };
      const lease = await shared?.(record, cancellation).catch(() => undefined);
      if (cancellation.reason) {
        lease?.leave();
        end();
        return undefined;
      }
      return lease ? { ...lease, leave: () => (lease.leave(), own.leave()) } : own;
    },
  };
}
