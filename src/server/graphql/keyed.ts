/** Requests with an idempotency key hold no slot while they wait for another request. */
import type { Prepared } from '../../engine/documents/prepare.ts';
import type { Admission, OperationSlot } from '../http/connections/admission.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Outcome } from './outcome.ts';
import type { RunOperation } from './pipeline.ts';
import type { GraphqlRequest } from './request.ts';

interface Admitted {
  exchange: Exchange;
  admission: Admission;
  slot: OperationSlot;
}

/** Runs a request that may leave its slot and take another. */
export async function runWithParking(
  run: RunOperation,
  prepared: Prepared,
  request: GraphqlRequest,
  admitted: Admitted,
): Promise<Outcome> {
  const { exchange, admission } = admitted;
  let { slot } = admitted;
  const parking = {
    leave: () => slot.release(),
    async enter() {
      slot = await admission.enter({ exchange, lifetime: request.cancellation });
      exchange.onClose(slot.release);
    },
  };
  try {
    return await run(prepared, { ...request, parking });
  } finally {
    slot.release();
  }
}
