import type { Lifetime } from '../../src/upstream/lifetime.ts';
import type { Transport } from '../../src/upstream/transport.ts';
import type { WireAnswer, WireRequest } from '../../src/upstream/wire.ts';

/** Sends it; a promise of what is told to it. */
export const sent = (
  transport: Transport,
  request: Omit<WireRequest, 'answered' | 'unanswered'>,
  asker: Lifetime,
): Promise<WireAnswer> =>
  new Promise((answered, unanswered) => transport.send({ ...request, answered, unanswered }, asker));
