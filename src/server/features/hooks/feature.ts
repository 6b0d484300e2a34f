/** Hooks of the embedding program: whether an operation may run, and what has ended. */
import type { EndedOperation as ShownOperation, FacadeHooks } from '../../../../facade.d.ts';
import { asError } from '../../../lib/promises.ts';
import { describeCall } from '../../../upstream/call-log.ts';
import type { Core } from '../../core.ts';
import type { Feature } from '../../feature.ts';
import { type EndedOperation, codeOf } from '../../graphql/ended-operation.ts';
import { authorizedRun } from './authorize.ts';

/** It is the last feature that wraps operations, so that nothing of the others is done for one that is refused. */
export function createHooksFeature(core: Core, { authorize, onOperation }: FacadeHooks = {}): Feature {
  const { log } = core;
  const reportFailure = (error: unknown): void => log.error({ err: asError(error) }, 'the hook onOperation failed');
  return {
    ...(authorize && { around: authorizedRun(core, authorize) }),
    ...(onOperation && {
      onEnd: (ended) => {
        // Nobody waits for what it returns.
        void (async () => onOperation(shown(ended)))().catch(reportFailure);
      },
    }),
  };
}

function shown({
  requestId,
  operation,
  session,
  price,
  isStored,
  startedAt,
  errors = [],
}: EndedOperation): ShownOperation {
  return {
    requestId,
    name: operation?.name,
    type: operation?.type as ShownOperation['type'],
    calls: session?.callLog.calls.map(describeCall) ?? [],
    price: price && { likely: price.likely, most: price.max },
    isStored,
    ms: performance.now() - startedAt,
    errors: errors.map(codeOf),
  };
}
