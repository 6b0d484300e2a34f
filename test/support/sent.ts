import type { CancellationToken } from '../../src/lib/cancellation.ts';
import type { Transport } from '../../src/upstream/http/pool.ts';
import type { HttpResponse, HttpRequest } from '../../src/upstream/http/request.ts';

/** Sends it; a promise of what is told to it. */
export const sent = (
  transport: Transport,
  request: Omit<HttpRequest, 'answered' | 'unanswered'>,
  asker: CancellationToken,
): Promise<HttpResponse> =>
  new Promise((answered, unanswered) => transport.send({ ...request, answered, unanswered }, asker));
