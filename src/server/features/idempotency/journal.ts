/**
 * The writes of one operation with a key. Each is known by the path of its field and its number within that field, its endpoint and its
 * input, and is recorded before it is sent: another request with the key, in whatever process, remembers it, reads it back, or sends it.
 */
import { GraphQLError } from 'graphql';
import { unlessCancelled } from '../../../lib/cancellation.ts';
import { operationEnded } from '../../../upstream/http/transport-errors.ts';
import type { GuardedWrite, WriteGuard } from '../../../upstream/write-guard.ts';
import { HttpError } from '../../http/response/http-error.ts';
import type { Entries } from './journal-entry.ts';
import { type KeyedRequest, settleWrite } from './keyed-write.ts';
import { outcomeUnknown, reused } from './refusals.ts';

export interface Journal extends WriteGuard {
  /** Why a write was not sent. It is the error of the whole request if nothing of it was sent. */
  refusal: () => HttpError | undefined;
  /** A write was sent by this request. */
  hasSent: () => boolean;
  /** Resolves when no write is in flight: they may outlive the operation. */
  settled: () => Promise<void>;
}

export function createJournal(keyed: KeyedRequest, journal: Entries): Journal {
  const counts = new Map<string, number>();
  const inFlight = new Set<Promise<unknown>>();
  let refusal: HttpError | undefined;
  let hasSent = false;

  async function write(write: GuardedWrite): Promise<unknown> {
    const { field, endpoint, input, rule, cancellation } = write;
    const number = counts.get(field) ?? 0;
    counts.set(field, number + 1);
    const at = `${field} ${number}`;
    const details = { service: endpoint.service, request: `${endpoint.method} ${endpoint.path}` };
    const request = `${details.request} ${keyed.key.hash(JSON.stringify(input))}`;
    if (cancellation.reason) throw operationEnded(details, cancellation.reason);
    const recorded = journal.get(at);
    if (recorded && recorded.request !== request) refusal ??= reused();
    if (refusal) throw refusal;
    let isSent = false;
    const onSent = () => (isSent = hasSent = true);
    const running = settleWrite({ ...keyed, journal, write, at, request, onSent }).finally(() => {
      inFlight.delete(running);
      if (isSent && cancellation.reason) write.onLate();
    });
    inFlight.add(running);
    const isOver = await unlessCancelled(running.then(ignore, ignore), cancellation);
    if (isOver || !isSent) return running;
    running.catch(ignore); // nobody waits for it
    write.onLeft?.(running);
    throw outcomeUnknown(details, rule.lookAt(input), 1, cancellation.reason);
  }

  return {
    async write(each) {
      try {
        return await write(each);
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        refusal ??= error;
        throw new GraphQLError(error.message, { extensions: error.extensions });
      }
    },
    // A creation that finds the record there is followed by its change.
    keptBy: (field) => journal.get(`${field} 0`)?.kept ?? journal.get(`${field} 1`)?.kept,
    refusal: () => refusal,
    hasSent: () => hasSent,
    async settled() {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },
  };
}

const ignore = (): void => undefined;
