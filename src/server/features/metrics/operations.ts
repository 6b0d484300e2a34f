/** Metrics of operations. */
import { type GraphQLError, OperationTypeNode } from 'graphql';
import { type EndedOperation, codeOf } from '../../graphql/ended-operation.ts';
import type { Metrics, Counts } from '../../observability/metrics.ts';

type Errors = readonly GraphQLError[];

export function createOperationMetrics(metrics: Metrics, isKnownName: (name: string) => boolean) {
  const storedResponses = metrics.counts(metrics.responseCacheHits);
  const types = Object.values(OperationTypeNode);
  const successes = new Map(
    types.map((type) => {
      const count = metrics.operations.labels({ type, outcome: 'ok' });
      return [type, metrics.durations(metrics.operationSeconds.labels({ type }), ({ length }) => count.inc(length))];
    }),
  );

  const named = new Map<string, { ok: Counts; errors: Counts; seconds: ReturnType<Metrics['durations']> }>();

  function namedSeries(operation: string) {
    let series = named.get(operation);
    if (series || !isKnownName(operation)) return series;
    const counterOf = (outcome: string) => metrics.counts(metrics.namedOperations.labels({ operation, outcome }));
    const seconds = metrics.durations(metrics.namedOperationDurations.labels({ operation }));
    named.set(operation, (series = { ok: counterOf('ok'), errors: counterOf('errors'), seconds }));
    return series;
  }

  const countErrors = (type: string, errors: Errors) => {
    for (const error of errors) metrics.errors.inc({ code: codeOf(error) });
    metrics.operations.inc({ type, outcome: 'errors' });
  };

  return {
    onEnd: ({ operation, startedAt, isStored, errors }: EndedOperation): void => {
      if (!operation) return; // counted when its document was prepared
      if (isStored) storedResponses.inc();
      const { type, name } = operation;
      const elapsed = (performance.now() - startedAt) / 1_000;
      if (errors) {
        countErrors(type, errors);
        metrics.operationSeconds.observe({ type }, elapsed);
      } else successes.get(type)?.add(elapsed);
      const series = name === undefined ? undefined : namedSeries(name);
      series?.[errors ? 'errors' : 'ok'].inc();
      series?.seconds.add(elapsed);
    },
    /** A document that cannot be run. */
    onInvalidDocument: (errors: Errors) => countErrors('none', errors),
  };
}
