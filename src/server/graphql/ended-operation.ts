/** An operation that has ended: the one value of which logs, metrics, spans and counts are made. */
import type { IncomingHttpHeaders } from 'node:http';
import type { DocumentNode, GraphQLError, OperationTypeNode } from 'graphql';
import { sha256Of } from '../../config/documents/trusted-documents.ts';
import type { CallCost } from '../../engine/cost/worst-case.ts';
import type { ExecutableDocument, NamedOperation } from '../../engine/documents/prepare.ts';
import { oncePer } from '../../lib/remember.ts';
import type { OperationSpan } from '../../lib/trace-context.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';

export interface EndedOperation {
  readonly requestId: string;
  /** The headers of the HTTP request. */
  readonly headers: IncomingHttpHeaders | undefined;
  /** By performance.now(). */
  readonly startedAt: number;
  /** Undefined if the document cannot be run. */
  readonly operation: NamedOperation | undefined;
  /** Undefined if it cannot be run or was refused, or if the response was stored. */
  readonly document: ExecutableDocument | undefined;
  /** What was read and written; undefined if nothing was run. */
  readonly session: UpstreamSession | undefined;
  /** The calls that it could have made; undefined if nothing was run. */
  readonly price: Pick<CallCost, 'likely' | 'max'> | undefined;
  /** The response was stored before. */
  readonly isStored: boolean;
  readonly span: OperationSpan | undefined;
  readonly errors: readonly GraphQLError[] | undefined;
}

/** What watches operations. A server without watchers makes nothing for them. */
export interface OperationWatchers {
  /** Starts the span of an operation; undefined if nobody records it and there is no trace to pass on. */
  readonly startSpan?:
    | ((
        type: OperationTypeNode,
        headers: IncomingHttpHeaders | undefined,
        startedAt: number,
      ) => OperationSpan | undefined)
    | undefined;
  /** A document was prepared that cannot be run. */
  readonly onInvalidDocument?: ((errors: readonly GraphQLError[]) => void) | undefined;
  /** Called once: when the whole result is there, after its last part, or when the client leaves before. */
  readonly onEnd?: readonly ((operation: EndedOperation) => void)[];
}

export const codeOf = ({ extensions: { code } }: GraphQLError): string =>
  typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR';

export const documentText = ({ loc }: DocumentNode): string => loc?.source.body ?? '';

/** The hash of the text, as in manifests. It is computed once for each document that is kept. */
export const documentHash = oncePer((document: DocumentNode) => sha256Of(documentText(document)));
