/**
 * Limits concurrent calls with tokens that upstream has not accepted yet: `UNVERIFIED_CALLS` in total, half of them per address.
 *
 * Addresses take turns, and so do the tokens of an address: many made-up tokens delay another client by one turn and never cause a
 * rejection. Every step is O(1): a call that ends wakes only calls that can begin.
 */
import { type CancellationToken, waitUnlessCancelled } from '../../lib/cancellation.ts';
import { type FairQueue, createFairQueue } from '../../lib/fair-queue.ts';
import { type QueueNode, createQueue, append, unlink } from '../../lib/queue.ts';

export const UNVERIFIED_CALLS = 60;
const CALLS_PER_ADDRESS = UNVERIFIED_CALLS / 2;

/** Numbers of running and waiting calls; both are 0 when idle. */
export interface LimiterState {
  running: number;
  waiting: number;
}

/** Names the token and the address that the call counts for. */
export type UnverifiedPermit = TokenCalls;

interface AddressCalls {
  address: string;
  running: number;
  /** Waiting calls, in which the tokens of the address take turns. */
  queue: FairQueue<Waiter>;
  /** Its place in the queue of addresses, while calls wait and the address has room. */
  turn: QueueNode<AddressCalls> | undefined;
}

/** The calls of one token count for the address that first sent it. */
interface TokenCalls {
  credential: string;
  of: AddressCalls;
  /** Running and waiting. */
  calls: number;
}

/** A call that waits for a permit. */
interface Waiter {
  token: TokenCalls;
  resolve: (permit: UnverifiedPermit | undefined) => void;
}

export class UnverifiedLimiter {
  private readonly addresses = new Map<string, AddressCalls>();
  private readonly tokens = new Map<string, TokenCalls>();
  private readonly turns = createQueue<AddressCalls>();
  private running = 0;

  /**
   * A permit for one call, or a promise if the call must wait. The promise resolves to undefined if upstream decides about the token
   * meanwhile, and rejects when it is cancelled.
   */
  acquire(
    credential: string,
    address: string,
    cancellation: CancellationToken,
  ): UnverifiedPermit | Promise<UnverifiedPermit | undefined> {
    const token = this.tokenOf(credential, address);
    const { of } = token;
    token.calls++;
    // With room, no call of the address waits: `pump` has begun them all.
    if (this.running < UNVERIFIED_CALLS && of.running < CALLS_PER_ADDRESS) return this.begin(token);
    return waitUnlessCancelled(cancellation, (resolve) => {
      const node = of.queue.add(token, { token, resolve });
      this.arrange(of);
      return () => {
        of.queue.remove(node);
        this.end(token);
        this.arrange(of);
      };
    });
  }

  /** Returns a permit. `isDecided`: upstream has accepted or rejected the token, so that its other calls need not wait. */
  release(token: UnverifiedPermit, isDecided: boolean): void {
    const { of } = token;
    this.running--;
    of.running--;
    this.end(token);
    while (isDecided) {
      const waiter = of.queue.take(token);
      if (!waiter) break;
      this.end(token);
      waiter.resolve(undefined);
    }
    this.arrange(of);
    this.pump();
  }

  state(): LimiterState {
    let waiting = 0;
    for (const { queue } of this.addresses.values()) waiting += queue.size;
    return { running: this.running, waiting };
  }

  private tokenOf(credential: string, address: string): TokenCalls {
    let token = this.tokens.get(credential);
    if (!token) {
      let of = this.addresses.get(address);
      if (!of) this.addresses.set(address, (of = { address, running: 0, queue: createFairQueue(), turn: undefined }));
      this.tokens.set(credential, (token = { credential, of, calls: 0 }));
    }
    return token;
  }

  private begin(token: TokenCalls): UnverifiedPermit {
    this.running++;
    token.of.running++;
    return token;
  }

  private end(token: TokenCalls): void {
    if (--token.calls === 0) this.tokens.delete(token.credential);
  }

  /** Queues, dequeues or deletes the address, as its counts require. */
  private arrange(of: AddressCalls): void {
    if (of.queue.size > 0 && of.running < CALLS_PER_ADDRESS) of.turn ??= append(this.turns, of);
    else this.endTurn(of);
    if (of.running === 0 && of.queue.size === 0) this.addresses.delete(of.address);
  }

  private endTurn(of: AddressCalls): void {
    if (of.turn) unlink(this.turns, of.turn);
    of.turn = undefined;
  }

  /** Begins waiting calls while there is room: the next call of the next address, which moves to the end of the queue. */
  private pump(): void {
    while (this.running < UNVERIFIED_CALLS && this.turns.first) {
      const of = this.turns.first.item;
      const waiter = of.queue.take()!;
      this.endTurn(of);
      waiter.resolve(this.begin(waiter.token));
      this.arrange(of);
    }
  }
}
