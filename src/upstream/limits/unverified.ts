/**
 * Limits concurrent calls with tokens that upstream has not accepted yet: `UNVERIFIED_CALLS` in total, half of them per address.
 *
 * Addresses take turns, and so do the tokens of an address: many made-up tokens delay another client by one turn and never cause a
 * rejection.
 */
import type { CancellationToken } from '../../lib/cancellation.ts';
import { type Semaphore, createSemaphore } from './semaphore.ts';

export const UNVERIFIED_CALLS = 60;

/** `isDecided`: upstream has accepted or rejected the token, so that its other calls need not wait. */
export type ReleaseUnverified = (isDecided: boolean) => void;

export function createUnverifiedLimiter() {
  const all = createSemaphore(() => UNVERIFIED_CALLS);
  const addresses = new Map<string, Semaphore>();

  /** Waits until one call may begin; undefined if upstream decides about the token meanwhile. Rejects when it is cancelled. */
  return async (
    token: object,
    address: string,
    cancellation: CancellationToken,
  ): Promise<ReleaseUnverified | undefined> => {
    const ofAddress = addresses.get(address) ?? createSemaphore(() => UNVERIFIED_CALLS / 2);
    addresses.set(address, ofAddress);
    const leave = () => {
      ofAddress.leave();
      if (ofAddress.running() === 0) addresses.delete(address);
    };
    if (!(await ofAddress.pass(token, cancellation))) return undefined;
    try {
      await all.pass(ofAddress, cancellation);
    } catch (error) {
      leave();
      throw error;
    }
    return (isDecided) => {
      if (isDecided) ofAddress.dismiss(token);
      leave();
      all.leave();
    };
  };
}
