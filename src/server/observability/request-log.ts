/** The request log: one line an operation. It has no variables, no token and no text of a document. */
import type { IncomingHttpHeaders } from 'node:http';
import type { DocumentNode, GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import { type LoggedCall, wasSent } from '../../upstream/call-log.ts';
import { clientOf } from '../http/request/client.ts';
import { codeOf, documentHash } from './operations.ts';

/** What is known of an operation at its end. */
interface EndedOperation {
  requestId: string;
  headers: IncomingHttpHeaders | undefined;
  /** By performance.now(). */
  startedAt: number;
  /** Undefined if the document is invalid. */
  type: string | undefined;
  name: string | undefined;
  /** Undefined if it is invalid, or if the response was stored. */
  document: DocumentNode | undefined;
  errors: readonly GraphQLError[] | undefined;
  calls: readonly LoggedCall[];
}

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

function lineOf({ requestId, headers = {}, startedAt, type, name, document, errors, calls }: EndedOperation): object {
  const client = clientOf(headers);
  const sent = calls.filter(wasSent);
  return {
    requestId,
    type,
    operation: short(name),
    document: document && documentHash(document),
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
