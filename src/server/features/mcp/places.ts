/** The places of agents in the admission: a request takes one before its messages are handled, whatever they ask for. */
import type { Config } from '../../../config/settings.ts';
import {
  type CancellationToken,
  addListener,
  cancel,
  createCancellationToken,
  removeListener,
} from '../../../lib/cancellation.ts';
import type { Admission } from '../../http/connections/admission.ts';
import type { Exchange } from '../../http/exchange.ts';
import { HttpError } from '../../http/response/http-error.ts';

/** The right to run one operation. */
export interface Place {
  /** Cancelled at the deadline of the operation, and when the client leaves. */
  lifetime: CancellationToken;
  /** Returns the place. Further calls do nothing. */
  leave: () => void;
}

/** A request of an agent that has its place. */
export interface AgentRequest {
  exchange: Exchange;
  /** The idempotency key that the agent sent with the call. */
  idempotencyKey?: unknown;
  /** The place for an operation: first that of the request, then a further one for each operation of a batch. */
  takePlace: () => Promise<Place>;
}

interface AdmittedRequest extends AgentRequest {
  /** Returns the place of the request, unless an operation took it. */
  leave: () => void;
}

/** Requests of agents hold at most their share of the running and waiting operations, so that people always find room. */
export function createPlaces(config: Config, admission: Admission) {
  const { maxRunningOperations, maxWaitingOperations, mcpShare } = config;
  const most = Math.max(1, Math.floor(((maxRunningOperations + maxWaitingOperations) * mcpShare) / 100));
  let requests = 0;

  /** Rejects with an HttpError: OVERLOADED, or CLIENT_LEFT. */
  return async (exchange: Exchange): Promise<AdmittedRequest> => {
    if (requests >= most) throw tooManyAgents('Agents already have the most requests allowed.');
    requests++;
    let own: Place | undefined;
    try {
      own = await place(exchange);
    } catch (error) {
      requests--;
      throw error;
    }
    const { leave } = own;
    return {
      exchange,
      async takePlace() {
        const taken = own ?? (await place(exchange));
        own = undefined;
        return taken;
      },
      leave() {
        requests--;
        leave();
      },
    };
  };

  async function place(exchange: Exchange): Promise<Place> {
    // A deadline ends the one operation, the client's leaving ends all of the request.
    const lifetime = createCancellationToken();
    const whole = { onCancel: (reason: Error) => cancel(lifetime, reason) };
    addListener(exchange.lifetime, whole);
    try {
      const slot = await admission.enter({ exchange, lifetime });
      return {
        lifetime,
        leave() {
          slot.release();
          removeListener(exchange.lifetime, whole);
        },
      };
    } catch (error) {
      removeListener(exchange.lifetime, whole);
      throw error;
    }
  }
}

export const tooManyAgents = (message: string): HttpError =>
  new HttpError('OVERLOADED', `${message} Try again in a moment.`, { headers: { 'retry-after': '1' } });
