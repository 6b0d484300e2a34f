/** The slots of agents in the admission: a request takes one before its message is handled, whatever it asks for. */
import type { Config } from '../../../config/settings.ts';
import type { Admission } from '../../http/connections/admission.ts';
import type { Exchange } from '../../http/exchange.ts';
import { HttpError } from '../../http/response/http-error.ts';

/** A request of an agent that has its slot. */
export interface AgentRequest {
  exchange: Exchange;
  /** The idempotency key that the agent sent with the call. */
  idempotencyKey?: unknown;
}

type SlotSettings = Pick<Config, 'maxRunningOperations' | 'maxWaitingOperations' | 'mcpShare'>;

/** Requests of agents hold at most their share of the running and waiting operations, so that people always find room. */
export function createAgentSlots(settings: SlotSettings, admission: Admission) {
  const { maxRunningOperations, maxWaitingOperations, mcpShare } = settings;
  const most = Math.max(1, Math.floor(((maxRunningOperations + maxWaitingOperations) * mcpShare) / 100));
  let requests = 0;

  /** Returns what releases the slot. Rejects with an HttpError: OVERLOADED, or CLIENT_LEFT. */
  return async (exchange: Exchange): Promise<() => void> => {
    if (requests >= most) throw tooManyAgents('Agents already have the most requests allowed.');
    requests++;
    try {
      const slot = await admission.enter({ exchange, lifetime: exchange.lifetime });
      return () => {
        requests--;
        slot.release();
      };
    } catch (error) {
      requests--;
      throw error;
    }
  };
}

export const tooManyAgents = (message: string): HttpError =>
  new HttpError('OVERLOADED', message, { headers: { 'retry-after': '1' } });
