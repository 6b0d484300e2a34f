import type { Variables } from '../../src/engine/plan/document.ts';
import { worstCaseOf } from '../../src/engine/cost/call-cost.ts';
import type { WorstOf } from '../../src/engine/documents/hints.ts';
import { planOperation } from '../../src/engine/plan/plan-operation.ts';
import { schema } from '../../src/graph/schema.ts';

const caller = { isLoggedIn: true, filmTier: null };

/** The worst case of an operation, for a person whose film tier is unknown. */
export const worstWith =
  (variables: Variables): WorstOf =>
  (document, operation) =>
    worstCaseOf(planOperation(schema, document, operation, caller, variables), variables);
