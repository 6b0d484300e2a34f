/**
 * The hook `authorize`: the program says of each operation whether its caller may run it. It is asked before anything is answered from a
 * cache, and nothing that was allowed to one caller is kept as a whole for another.
 */
import { GraphQLError, type GraphQLSchema, Kind, isAbstractType, separateOperations } from 'graphql';
import type { AskedOperation, FacadeHooks } from '../../../../facade.d.ts';
import { worstCaseOf } from '../../../engine/cost/call-cost.ts';
import type { ExecutableDocument } from '../../../engine/documents/prepare.ts';
import { usesOf } from '../../../engine/plan/document-uses.ts';
import { waitUnlessCancelled } from '../../../lib/cancellation.ts';
import { oncePer } from '../../../lib/remember.ts';
import { CachePolicy } from '../../../upstream/cache/cache-policy.ts';
import type { Core } from '../../core.ts';
import type { Outcome } from '../../graphql/outcome.ts';
import type { RunOperation } from '../../graphql/pipeline.ts';
import { planRequest, withKey } from '../../graphql/plan-request.ts';
import type { OperationRequest } from '../../graphql/request.ts';

type Authorize = NonNullable<FacadeHooks['authorize']>;

export const authorizedRun = (core: Core, authorize: Authorize) => {
  const fieldsOf = oncePer((document: ExecutableDocument) => fieldsIn(core.schema, document));
  const askedOf = (document: ExecutableDocument, request: OperationRequest): AskedOperation => ({
    name: document.named.name,
    type: document.named.type as AskedOperation['type'],
    fields: fieldsOf(document),
    price: priceOf(core, document, request),
    headers: request.headers ?? {},
    address: request.address,
  });

  /** The error of an operation that may not run. */
  async function refusalOf(document: ExecutableDocument, request: OperationRequest): Promise<GraphQLError | undefined> {
    const { cancellation, requestId } = request;
    try {
      const asked = askedOf(document, request);
      const answer = await waitUnlessCancelled<unknown>(cancellation, (resolve, reject) => {
        (async () => authorize(asked))().then(resolve, reject);
        return () => undefined; // it may answer later, to nobody
      });
      return answer === true ? undefined : refusal(answer);
    } catch (error) {
      core.log.error({ err: error, requestId }, 'the hook authorize failed, so the operation was not run');
      return undecided();
    }
  }

  return (run: RunOperation): RunOperation =>
    async (prepared, request, writes) => {
      const { ready } = prepared;
      const error = ready && (await refusalOf(ready, request));
      if (error) return run({ errors: [error], refused: ready.named }, request, writes);
      return forThisCaller(await run(prepared, request, writes));
    };
};

/** Undefined if it cannot be run at all: because of its variables, or because it costs too much. */
function priceOf(core: Core, document: ExecutableDocument, request: OperationRequest): AskedOperation['price'] {
  const planned = planRequest(core, document, request, { span: undefined, writes: undefined });
  if ('errors' in planned) return undefined;
  const { calls } = worstCaseOf(planned.context.plan, planned.coerced);
  const { likely, max } = request.idempotencyKey === undefined ? calls : withKey(calls);
  return { likely, most: max };
}

/** The coordinates of all fields of the operation; a field of an interface or a union stands as that of each type too. */
function fieldsIn(schema: GraphQLSchema, { document, operation }: ExecutableDocument): readonly string[] {
  const own = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  const found = usesOf(schema, own).flatMap(({ coordinate, node }) => {
    if (node.kind !== Kind.FIELD) return [];
    const [type = '', field = ''] = coordinate.split('.');
    const parent = schema.getType(type);
    const owners = isAbstractType(parent) ? schema.getPossibleTypes(parent) : [];
    return [coordinate, ...owners.map(({ name }) => `${name}.${field}`)];
  });
  return Object.freeze([...new Set(found)]); // later requests with the document get the same list
}

const refusal = (reason: unknown): GraphQLError =>
  new GraphQLError((typeof reason === 'string' && reason) || 'You may not run this operation.', {
    extensions: { code: 'OPERATION_FORBIDDEN', http: { status: 403 } },
  });

const undecided = (): GraphQLError =>
  new GraphQLError('Whether you may run this operation could not be decided.', {
    extensions: { code: 'INTERNAL_SERVER_ERROR', http: { status: 500 } },
  });

/** No cache may answer instead of the hook, neither that of whole responses here nor one on the way to the client. */
function forThisCaller(outcome: Outcome): Outcome {
  if (!outcome.cachePolicy) return outcome;
  const cachePolicy = new CachePolicy(true);
  cachePolicy.forbidsStoring = outcome.cachePolicy.forbidsStoring;
  cachePolicy.restrict(null);
  return { ...outcome, cachePolicy };
}
