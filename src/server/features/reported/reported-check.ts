/** Why an operation that was run would be rejected by what is only reported: by the code that rejects it where it is in force. */
import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { Reported } from '../../../config/reported.ts';
import type { DocumentSettings } from '../../../engine/documents/limits.ts';
import { type ExecutableDocument, createPrepare } from '../../../engine/documents/prepare.ts';
import type { PlanViewer } from '../../../engine/plan/plan-operation.ts';
import { documentText } from '../../graphql/ended-operation.ts';
import type { Trusted } from '../../graphql/documents/trusted.ts';
import type { OperationRequest } from '../../graphql/request.ts';

export interface ReportedRefusal {
  code: string;
  /** The limit that is exceeded. */
  limit?: number | undefined;
  /** How much there is of what is limited. */
  actual?: number | undefined;
}

export type ReportedCheck = (
  ready: ExecutableDocument,
  request: Pick<OperationRequest, 'variables' | 'incremental' | 'rateShare'>,
  viewer: PlanViewer,
) => readonly ReportedRefusal[];

export function createReportedCheck(
  schema: GraphQLSchema,
  settings: DocumentSettings,
  { limits, untrusted }: Reported,
  trusted: Pick<Trusted, 'hasText'>,
): ReportedCheck {
  const prepare = limits && createPrepare(schema, { ...settings, ...limits });
  return (ready, { variables = {}, incremental, rateShare }, viewer) => {
    const text = documentText(ready.document);
    // What agents run is reviewed elsewhere.
    const isUntrusted = untrusted && rateShare === undefined && !trusted.hasText(text);
    const refusals: ReportedRefusal[] = isUntrusted ? [{ code: 'PERSISTED_ONLY' }] : [];
    const prepared = prepare?.(text, ready.named.name);
    if (!prepared) return refusals;
    if (prepared.errors) return [...refusals, ...prepared.errors.map(refusalFrom)];
    const run = incremental ? prepared.ready : prepared.ready.nonIncremental();
    const { coerced } = run.coerce(variables);
    const plan = coerced && run.planner.planFor(viewer, coerced);
    return plan instanceof GraphQLError ? [...refusals, refusalFrom(plan)] : refusals;
  };
}

const refusalFrom = ({ extensions: { code, limit, actual } }: GraphQLError): ReportedRefusal => ({
  code: String(code),
  limit: typeof limit === 'number' ? limit : undefined,
  actual: typeof actual === 'number' ? actual : undefined,
});
