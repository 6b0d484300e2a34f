import type { Lifetime } from '../../src/lib/cancellation.ts';
import type { Transport } from '../../src/upstream/http/pool.ts';
import type { WireAnswer, WireRequest } from '../../src/upstream/http/request.ts';

/** Sends it; a promise of what is told to it. */
export const sent = (
  transport: Transport,
  request: Omit<WireRequest, 'answered' | 'unanswered'>,
  asker: Lifetime,
): Promise<WireAnswer> =>
  new Promise((answered, unanswered) => transport.send({ ...request, answered, unanswered }, asker));
