/**
 * Limits concurrent calls with tokens that upstream has not accepted yet: `UNVERIFIED_CALLS` in total, half of them per address.
 *
 * Addresses take turns, and so do the tokens of an address: many made-up tokens delay another client by one turn and never cause a
 * rejection. Every step is O(1): a call that ends wakes only calls that can begin.
 */
import {
  type CancellationToken,
  type CancellationListener,
  removeListener,
  addListener,
} from '../../lib/cancellation.ts';
import { type QueueNode, type Queue, createQueue, append, unlink } from '../../lib/queue.ts';

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
  /** Tokens with waiting calls, in order of their turns. */
  tokens: Queue<TokenCalls>;
  /** Its place in the queue of addresses, while calls wait and the address has room. */
  place: QueueNode<AddressCalls> | undefined;
}

/** The calls of one token count for the address that first sent it. */
interface TokenCalls {
  credential: string;
  of: AddressCalls;
  running: number;
  waiting: Queue<Waiter>;
  place: QueueNode<TokenCalls> | undefined;
}

/** A call that waits for a permit. */
interface Waiter extends CancellationListener {
  token: TokenCalls;
  cancellation: CancellationToken;
  node: QueueNode<Waiter> | undefined;
  resolve: (permit: UnverifiedPermit | undefined) => void;
}

export class UnverifiedLimiter {
  private readonly addresses = new Map<string, AddressCalls>();
  private readonly tokens = new Map<string, TokenCalls>();
  private readonly turns = createQueue<AddressCalls>();
  private running = 0;
  private waiting = 0;

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
    const hasRoom = this.running < UNVERIFIED_CALLS && token.of.running < CALLS_PER_ADDRESS;
    if (hasRoom && token.waiting.size === 0) return this.begin(token);
    return new Promise((resolve, reject) => {
      const onCancel = (reason: Error) => {
        this.stopWaiting(waiter);
        this.arrange(token);
        reject(reason);
      };
      const waiter: Waiter = { token, cancellation, node: undefined, resolve, onCancel };
      waiter.node = append(token.waiting, waiter);
      this.waiting++;
      this.arrange(token);
      addListener(cancellation, waiter);
    });
  }

  /** Returns a permit. `isDecided`: upstream has accepted or rejected the token, so that its other calls need not wait. */
  release(token: UnverifiedPermit, isDecided: boolean): void {
    this.running--;
    token.running--;
    token.of.running--;
    while (isDecided && token.waiting.first) {
      const waiter = token.waiting.first.item;
      this.stopWaiting(waiter);
      waiter.resolve(undefined);
    }
    this.arrange(token);
    this.pump();
  }

  state(): LimiterState {
    return { running: this.running, waiting: this.waiting };
  }

  private tokenOf(credential: string, address: string): TokenCalls {
    let token = this.tokens.get(credential);
    if (!token) {
      let of = this.addresses.get(address);
      if (!of) this.addresses.set(address, (of = { address, running: 0, tokens: createQueue(), place: undefined }));
      token = { credential, of, running: 0, waiting: createQueue(), place: undefined };
      this.tokens.set(credential, token);
    }
    return token;
  }

  private begin(token: TokenCalls): UnverifiedPermit {
    this.running++;
    token.running++;
    token.of.running++;
    return token;
  }

  /** Queues, dequeues or deletes the token and its address, as their counts require. */
  private arrange(token: TokenCalls): void {
    const { of } = token;
    if (token.waiting.size === 0) {
      if (token.place) unlink(of.tokens, token.place);
      token.place = undefined;
      if (token.running === 0) this.tokens.delete(token.credential);
    } else token.place ??= append(of.tokens, token);
    const isReady = of.tokens.size > 0 && of.running < CALLS_PER_ADDRESS;
    if (isReady) of.place ??= append(this.turns, of);
    else {
      if (of.place) unlink(this.turns, of.place);
      of.place = undefined;
      if (of.running === 0 && of.tokens.size === 0) this.addresses.delete(of.address);
    }
  }

  /** Begins waiting calls while there is room: the next token of the next address, both of which move to the end of their queues. */
  private pump(): void {
    while (this.running < UNVERIFIED_CALLS && this.turns.first) {
      const of = this.turns.first.item;
      const token = of.tokens.first!.item;
      unlink(this.turns, of.place!);
      unlink(of.tokens, token.place!);
      of.place = token.place = undefined;
      const waiter = token.waiting.first!.item;
      this.stopWaiting(waiter);
      this.begin(token);
      this.arrange(token);
      waiter.resolve(token);
    }
  }

  private stopWaiting(waiter: Waiter): void {
    if (unlink(waiter.token.waiting, waiter.node!)) this.waiting--;
    removeListener(waiter.cancellation, waiter);
  }
}
