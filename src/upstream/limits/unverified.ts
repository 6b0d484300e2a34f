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

export interface UnverifiedLimiter {
  /**
   * A permit for one call, or a promise if the call must wait. The promise resolves to undefined if upstream decides about the token
   * meanwhile, and rejects when it is cancelled.
   */
  acquire: (
    credential: string,
    address: string,
    cancellation: CancellationToken,
  ) => UnverifiedPermit | Promise<UnverifiedPermit | undefined>;
  /** Gives a permit back. `isDecided`: upstream has accepted or rejected the token, so that its other calls need not wait. */
  release: (permit: UnverifiedPermit, isDecided: boolean) => void;
  state: () => LimiterState;
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

export function createUnverifiedLimiter(): UnverifiedLimiter {
  const addresses = new Map<string, AddressCalls>();
  const tokens = new Map<string, TokenCalls>();
  const turns = createQueue<AddressCalls>();
  let running = 0;
  let waiting = 0;

  function tokenOf(credential: string, address: string): TokenCalls {
    let token = tokens.get(credential);
    if (!token) {
      let of = addresses.get(address);
      if (!of) addresses.set(address, (of = { address, running: 0, tokens: createQueue(), place: undefined }));
      token = { credential, of, running: 0, waiting: createQueue(), place: undefined };
      tokens.set(credential, token);
    }
    return token;
  }

  const hasRoom = ({ of }: TokenCalls) => running < UNVERIFIED_CALLS && of.running < CALLS_PER_ADDRESS;

  function begin(token: TokenCalls): UnverifiedPermit {
    running++;
    token.running++;
    token.of.running++;
    return token;
  }

  /** Queues, dequeues or deletes the token and its address, as their counts require. */
  function arrange(token: TokenCalls): void {
    const { of } = token;
    if (token.waiting.size === 0) {
      if (token.place) unlink(of.tokens, token.place);
      token.place = undefined;
      if (token.running === 0) tokens.delete(token.credential);
    } else token.place ??= append(of.tokens, token);
    const isReady = of.tokens.size > 0 && of.running < CALLS_PER_ADDRESS;
    if (isReady) of.place ??= append(turns, of);
    else {
      if (of.place) unlink(turns, of.place);
      of.place = undefined;
      if (of.running === 0 && of.tokens.size === 0) addresses.delete(of.address);
    }
  }

  /** Begins waiting calls while there is room: the next token of the next address, both of which move to the end of their queues. */
  function pump(): void {
    while (running < UNVERIFIED_CALLS && turns.first) {
      const of = turns.first.item;
      const token = of.tokens.first!.item;
      unlink(turns, of.place!);
      unlink(of.tokens, token.place!);
      of.place = token.place = undefined;
      const waiter = token.waiting.first!.item;
      remove(waiter);
      begin(token);
      arrange(token);
      waiter.resolve(token);
    }
  }

  function remove(waiter: Waiter): void {
    if (unlink(waiter.token.waiting, waiter.place)) waiting--;
    removeListener(waiter.cancellation, waiter);
  }

  return {
    acquire(credential, address, cancellation) {
      const token = tokenOf(credential, address);
      if (hasRoom(token) && token.waiting.size === 0) return begin(token);
      return new Promise((resolve, reject) => {
        const waiter = new Waiter(token, cancellation, resolve, (reason) => {
          remove(waiter);
          arrange(token);
          reject(reason);
        });
        waiting++;
        arrange(token);
        addListener(cancellation, waiter);
      });
    },
    release(token, isDecided) {
      running--;
      token.running--;
      token.of.running--;
      while (isDecided && token.waiting.first) {
        const waiter = token.waiting.first.item;
        remove(waiter);
        waiter.resolve(undefined);
      }
      arrange(token);
      pump();
    },
    state: () => ({ running, waiting }),
  };
}

class Waiter implements CancellationListener {
  readonly place: QueueNode<Waiter>;
  readonly token: TokenCalls;
  readonly cancellation: CancellationToken;
  readonly resolve: (permit: UnverifiedPermit | undefined) => void;
  readonly onCancel: (reason: Error) => void;

  constructor(
    token: TokenCalls,
    cancellation: CancellationToken,
    resolve: (permit: UnverifiedPermit | undefined) => void,
    over: (reason: Error) => void,
  ) {
    this.token = token;
    this.cancellation = cancellation;
    this.resolve = resolve;
    this.onCancel = over;
    this.place = append(token.waiting, this);
  }
}
