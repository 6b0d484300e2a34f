/** Metrics and spans of operations. */
import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import { type GraphQLError, type GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { OperationSpan } from '../../lib/trace-context.ts';
import type { Metrics, Tally } from './metrics.ts';
import { type Tracing, endOperationSpan, startOperationSpan } from './tracing.ts';

type Errors = readonly (GraphQLError | GraphQLFormattedError)[];

interface OperationObserver {
  /** Starts the span of an operation; undefined if nobody records it and there is no trace to pass on. */
  start: (type: OperationTypeNode, parent: Context | undefined, startedAt: number) => OperationSpan | undefined;
  end: (
    operation: {
      type: OperationTypeNode;
      name: string | undefined;
      startedAt: number;
      span: OperationSpan | undefined;
    },
    errors: Errors | undefined,
  ) => void;
  /** A document that cannot be run. */
  invalidDocument: (errors: Errors) => void;
}

/** `names`: the operation names that may become values of a label. Names that clients choose would be unbounded. */
export function createOperationObserver(
  metrics: Metrics,
  tracing: Tracing | undefined,
  names: ReadonlySet<string> = new Set(),
): OperationObserver {
  const types = Object.values(OperationTypeNode);
  const successes = new Map(
    types.map((type) => {
      const count = metrics.operations.labels({ type, outcome: 'ok' });
      return [type, metrics.successes(count, metrics.operationSeconds.labels({ type }))];
    }),
  );

  const named = new Map<string, { ok: Tally; errors: Tally; seconds: Tally }>();

  function namedSeries(operation: string) {
    let series = named.get(operation);
    if (series || !names.has(operation)) return series;
    const tallyOf = (outcome: string) => metrics.tally(metrics.namedOperations.labels({ operation, outcome }));
    const seconds = metrics.tally(metrics.namedOperationSeconds.labels({ operation }));
    named.set(operation, (series = { ok: tallyOf('ok'), errors: tallyOf('errors'), seconds }));
    return series;
  }

  const countErrors = (type: string, errors: Errors) => {
    for (const error of errors) metrics.errors.inc({ code: codeOf(error) });
    metrics.operations.inc({ type, outcome: 'errors' });
  };

  return {
    start: (type, parent, startedAt) => tracing && startOperationSpan(tracing, type, parent ?? ROOT_CONTEXT, startedAt),
    end({ type, name, startedAt, span }, errors) {
      const elapsed = (performance.now() - startedAt) / 1_000;
      if (errors) {
        countErrors(type, errors);
        metrics.operationSeconds.observe({ type }, elapsed);
      } else successes.get(type)?.add(elapsed);
      const series = name === undefined ? undefined : namedSeries(name);
      series?.[errors ? 'errors' : 'ok'].inc();
      series?.seconds.inc(elapsed);
      if (span) endOperationSpan(span, type, name, (errors ?? []).map(codeOf));
    },
    invalidDocument: (errors) => countErrors('none', errors),
  };
}

const codeOf = ({ extensions }: GraphQLError | GraphQLFormattedError): string =>
  typeof extensions?.code === 'string' ? extensions.code : 'INTERNAL_SERVER_ERROR';

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
