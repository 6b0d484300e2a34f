/** The request log: one line an operation. It has no variables, no token and no text of a document. */
import type { Logger } from 'pino';
import type { Config } from '../../../config/settings.ts';
import { wasSent } from '../../../upstream/call-log.ts';
import { type EndedOperation, codeOf, documentHash } from '../../graphql/ended-operation.ts';
import { clientOf } from '../../http/request/client.ts';

/** With `sampled`, one operation of so many is logged. */
const SAMPLED = 100;
/** Clients choose names and versions. */
const TEXT_MAX = 100;

/** Undefined if it is off. */
export function createRequestLog(
  log: Logger,
  mode: Config['requestLog'],
): ((operation: EndedOperation) => void) | undefined {
  if (mode === 'off') return undefined;
  const every = mode === 'all' ? 1 : SAMPLED;
  let count = 0;
  return (operation) => {
    if (count++ % every === 0) log.info({ ...lineOf(operation), every: every === 1 ? undefined : every }, 'operation');
  };
}

function lineOf({ requestId, headers = {}, startedAt, operation, document, session, errors }: EndedOperation): object {
  const client = clientOf(headers);
  const calls = session?.callLog.calls ?? [];
  const sent = calls.filter(wasSent);
  return {
    requestId,
    type: operation?.type,
    operation: short(operation?.name),
    document: document && documentHash(document.document),
    client: short(client?.name),
    clientVersion: short(client?.version || undefined),
    codes: errors && [...new Set(errors.map(codeOf))],
    calls: sent.length,
    cached: calls.filter(({ how }) => how === 'cached' || how === 'stale').length,
    /** The bytes of upstream's responses. */
    bytes: sent.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
    ms: Math.round(performance.now() - startedAt),
  };
}

const short = (text: string | undefined): string | undefined => text?.slice(0, TEXT_MAX);
