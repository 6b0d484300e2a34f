/** Metrics and spans of operations, and the log of slow ones. */
import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import { type DocumentNode, type GraphQLError, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import { sha256Of } from '../../config/trusted-documents.ts';
import { oncePer } from '../../lib/remember.ts';
import type { OperationSpan } from '../../lib/trace-context.ts';
import { wasSent } from '../../upstream/call-log.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';
import type { Metrics, Tally } from './metrics.ts';
import { type Tracing, endOperationSpan, startOperationSpan } from './tracing.ts';

type Errors = readonly GraphQLError[];

interface ObservedOperation {
  type: OperationTypeNode;
  name: string | undefined;
  startedAt: number;
  span: OperationSpan | undefined;
  /** Undefined if the response was stored. */
  document?: DocumentNode;
}

/** What the operator has named. */
export interface KnownOperations {
  /** Whether the name of an operation may become the value of a label. Names that clients choose would be unbounded. */
  isKnownName?: ((name: string) => boolean) | undefined;
  /** The id of a trusted document, by its text. */
  trustedId?: ((text: string) => string | undefined) | undefined;
}

export function createOperationObserver(
  metrics: Metrics,
  tracing: Tracing | undefined,
  { isKnownName = () => false, trustedId }: KnownOperations = {},
) {
  const types = Object.values(OperationTypeNode);
  const successes = new Map(
    types.map((type) => {
      const count = metrics.operations.labels({ type, outcome: 'ok' });
      return [type, metrics.durations(metrics.operationSeconds.labels({ type }), ({ length }) => count.inc(length))];
    }),
  );

  const named = new Map<string, { ok: Tally; errors: Tally; seconds: ReturnType<Metrics['durations']> }>();

  function namedSeries(operation: string) {
    let series = named.get(operation);
    if (series || !isKnownName(operation)) return series;
    const tallyOf = (outcome: string) => metrics.tally(metrics.namedOperations.labels({ operation, outcome }));
    const total = metrics.namedOperationSeconds.labels({ operation });
    const seconds = metrics.durations(metrics.namedOperationDurations.labels({ operation }), (all) =>
      total.inc(all.reduce((sum, each) => sum + each, 0)),
    );
    named.set(operation, (series = { ok: tallyOf('ok'), errors: tallyOf('errors'), seconds }));
    return series;
  }

  const countErrors = (type: string, errors: Errors) => {
    for (const error of errors) metrics.errors.inc({ code: codeOf(error) });
    metrics.operations.inc({ type, outcome: 'errors' });
  };

  return {
    /** Starts the span of an operation; undefined if nobody records it and there is no trace to pass on. */
    start: (type: OperationTypeNode, parent: Context | undefined, startedAt: number): OperationSpan | undefined =>
      tracing && startOperationSpan(tracing, type, parent ?? ROOT_CONTEXT, startedAt),
    end({ type, name, startedAt, span, document }: ObservedOperation, errors: Errors | undefined): void {
      const elapsed = (performance.now() - startedAt) / 1_000;
      if (errors) {
        countErrors(type, errors);
        metrics.operationSeconds.observe({ type }, elapsed);
      } else successes.get(type)?.add(elapsed);
      const series = name === undefined ? undefined : namedSeries(name);
      series?.[errors ? 'errors' : 'ok'].inc();
      series?.seconds.add(elapsed);
      if (!span) return;
      const recorded = span.span.isRecording() ? document : undefined;
      const hash = recorded && documentHash(recorded);
      const id = recorded && trustedId?.(textOf(recorded));
      endOperationSpan(span, { type, name, hash, id }, (errors ?? []).map(codeOf));
    },
    /** A document that cannot be run. */
    invalidDocument: (errors: Errors) => countErrors('none', errors),
  };
}

export const codeOf = ({ extensions: { code } }: GraphQLError): string =>
  typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR';

const textOf = ({ loc }: DocumentNode): string => loc?.source.body ?? '';

/** The hash of the text, as in manifests. It is computed once for each document that is kept. */
export const documentHash = oncePer((document: DocumentNode) => sha256Of(textOf(document)));

/** The names of the operations in these documents. */
export function operationNames(documents: Iterable<string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const text of documents) {
    for (const line of text.split('\n')) {
      const [, name] = /^(?:query|mutation)\s+([A-Za-z_]\w*)/.exec(line.trimStart()) ?? [];
      if (name !== undefined) names.add(name);
    }
  }
  return names;
}

/** Clients choose the names, which may be as long as a document. */
const NAME_MAX = 100;

/** Returns a function to be called at the end of an operation. It logs one that took long, with its calls. */
export const createSlowLog =
  (log: Logger, thresholdMs: number) =>
  ({ callLog }: UpstreamSession, name: string | undefined, requestId: string): void => {
    if (thresholdMs === 0) return;
    const ms = performance.now() - callLog.started;
    if (ms < thresholdMs) return;
    const sent = callLog.calls.filter(wasSent);
    const slowest = sent.reduce((a, b) => (b.ms > (a?.ms ?? -1) ? b : a), sent[0]);
    const facts = {
      requestId,
      operation: name?.slice(0, NAME_MAX),
      ms: Math.round(ms),
      calls: sent.length,
      ...(slowest && {
        slowest: `${slowest.method} ${slowest.wirePath.split('?', 1)[0]}`,
        slowestMs: Math.round(slowest.ms),
      }),
    };
    log.info(facts, 'slow operation');
  };
