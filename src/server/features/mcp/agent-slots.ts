/** The slots of agents in the admission: a request takes one before its message is handled, whatever it asks for. */
import type { Config } from '../../../config/settings.ts';
import type { Admission } from '../../http/connections/admission.ts';
import type { Exchange } from '../../http/exchange.ts';
import { overloaded } from '../../http/response/http-error.ts';

/** A request of an agent that has its slot. */
export interface AgentRequest {
  exchange: Exchange;
  /** The idempotency key that the agent sent with the call. */
  idempotencyKey?: unknown;
}

type SlotSettings = Pick<Config, 'maxRunningOperations' | 'mcpShare'>;

/** Requests of agents are at most their share of the operations that run, also while they wait, so that people always find room. */
export function createAgentSlots(settings: SlotSettings, admission: Admission) {
  const most = Math.max(1, Math.floor((settings.maxRunningOperations * settings.mcpShare) / 100));
  let requests = 0;

  /** Returns what releases the slot. Rejects with an HttpError: OVERLOADED, or CLIENT_LEFT. */
  return async (exchange: Exchange): Promise<() => void> => {
    if (requests >= most) throw overloaded('Agents already have the most requests allowed.');
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
