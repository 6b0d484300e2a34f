/** Requests with an idempotency key: what runs them is loaded by the first one. */
import type { Admission, OperationSlot } from '../http/connections/admission.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Prepared } from '../../engine/documents/prepare.ts';
import type { Outcome } from './outcome.ts';
import type { GraphqlRequest, OperationRequest } from './request.ts';

/** Runs a request with an idempotency key. Throws an HttpError for one that is not run. A response that is repeated is marked in the headers. */
export type RunKeyed = (
  key: unknown,
  prepared: Prepared,
  request: OperationRequest,
  response: KeyedResponse,
) => Promise<Outcome>;

/** The slot of a request that waits for another one. */
export interface Parking {
  leave: () => void;
  /** Takes a slot again. */
  enter: () => Promise<void>;
}

export interface KeyedResponse {
  readonly headers: string[];
  /** Undefined if the slot is kept meanwhile. */
  readonly parking?: Parking | undefined;
}

interface KeyedParts {
  prepared: Prepared;
  parsed: GraphqlRequest;
  exchange: Exchange;
  admission: Admission;
  slot: OperationSlot;
}

/** Runs what has a key. While it waits for another request, it holds no slot. */
export async function runKeyed(run: RunKeyed, key: unknown, parts: KeyedParts): Promise<Outcome> {
  const { prepared, parsed, exchange, admission } = parts;
  let { slot } = parts;
  const parking = {
    leave: () => slot.release(),
    async enter() {
      slot = await admission.enter({ exchange, lifetime: parsed.cancellation });
      exchange.onClose(slot.release);
    },
  };
  try {
    return await run(key, prepared, parsed, { headers: exchange.headers, parking });
  } finally {
    slot.release();
  }
}
