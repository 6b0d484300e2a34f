/** What the server would say of an operation before it runs it, and what the operation costs. No server is needed for it. */
import { type DocumentNode, GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql';
import { type CostRange, type PlanFor, anyCaller, costOfAny, costWith } from '../cost/cost-range.ts';
import { planViewers, withoutDirectives } from '../cost/price.ts';
import { cheapestVariables, withSmallNumbers } from '../cost/variable-bounds.ts';
import { type Variables, withoutIncremental } from '../plan/document.ts';
import { oncePer } from '../../lib/remember.ts';
import { createPlanCache } from '../plan/plan-cache.ts';
import type { PlanViewer } from '../plan/plan-operation.ts';
import { type OperationRequirements, requirementsIn } from '../requirements/operation-requirements.ts';
import { tierRefusals } from '../requirements/tiers-by-path.ts';
import { type PlannableDocument, createDocumentCheck } from './check-document.ts';
import { type DocumentSettings, variablesLimit } from './limits.ts';
import { checkIncrementalArguments } from './validation-rules.ts';

export interface Assessment {
  /** Why it is rejected: with the given variables, or whatever they are. */
  errors: readonly GraphQLError[];
  /** Undefined if the document cannot be planned. */
  ready: PlannableDocument | undefined;
  cost: CostRange | undefined;
  requirements: OperationRequirements | undefined;
}

export type Assess = ReturnType<typeof createAssess>;

export function createAssess(schema: GraphQLSchema, settings: DocumentSettings) {
  const { check } = createDocumentCheck(schema, settings);

  /** Without variables, for all that the operation may be sent with. */
  return (text: string, operationName?: string, variables?: Variables): Assessment => {
    const name = operationName || undefined;
    const { ready, errors = [] } = check(text, name);
    const unknown = { ready, cost: undefined, requirements: undefined };
    if (!ready) return { errors, ...unknown };
    const { document, operation } = ready;
    // With incremental delivery, it may also be run without.
    const documents: DocumentNode[] = [document];
    if (ready.incrementalSelections.length > 0) documents.push(withoutIncremental(document));
    try {
      const { coerced, errors: wrong = [] } = coercedVariables(schema, ready, variables);
      if (variables && !coerced) return { errors: wrong, ...unknown };
      const rejected = coerced && (variables ? rejection : alwaysRejection)(ready, coerced, schema);
      const given = variables && coerced;
      const plans = createPlanCache(schema, { maxFields: settings.maxPlannedFields });
      const plannerOf = oncePer((form: DocumentNode) => plans.plannerFor(form, getOperationAST(form, name)!));
      const planFor: PlanFor = (form, viewer, given) => {
        const plan = plannerOf(form).planFor(viewer, given);
        if (plan instanceof GraphQLError) throw plan;
        return plan;
      };
      const whole = given ? withoutIncremental(document) : withoutDirectives(document);
      const planAs = (viewer: PlanViewer) => planFor(whole, viewer, coerced ?? {});
      const refusals = tierRefusals((filmTier) => planAs({ isLoggedIn: true, filmTier }).root, given);
      const requirements = requirementsIn(schema, planAs(anyCaller), refusals, given);
      const viewers = planViewers.filter(({ filmTier }) => requirements.tiers !== null || filmTier === null);
      const priced = { schema, documents, operation, planFor, viewers };
      const cost = variables ? costWith(priced, coerced!) : costOfAny(priced, coerced ?? {});
      return { errors: rejected ? [rejected] : [], ready, cost, requirements };
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error], ...unknown };
      throw error;
    }
  };
}

/** Coerced as for a request. Without variables, the cheapest; undefined if only the caller can know them. */
function coercedVariables(schema: GraphQLSchema, ready: PlannableDocument, variables: Variables | undefined) {
  const tooMany = variables && variablesLimit(variables);
  if (tooMany) return { errors: [tooMany] };
  return ready.coerce(variables ?? cheapestVariables(schema, ready.operation));
}

/** Why it is rejected whatever its variables are: also with the smallest numbers, and without what a variable may leave out. `coerced`: the cheapest variables. */
function alwaysRejection(
  ready: PlannableDocument,
  coerced: Variables,
  schema: GraphQLSchema,
): GraphQLError | undefined {
  const rejected = rejection(ready, coerced);
  if (!rejected || (ready.operation.variableDefinitions ?? []).length === 0) return rejected;
  return rejection(ready.shortest(), withSmallNumbers(schema, ready.operation, coerced, 0)) && rejected;
}

function rejection(
  { incrementalSelections, planner }: PlannableDocument,
  coerced: Variables,
): GraphQLError | undefined {
  try {
    checkIncrementalArguments(incrementalSelections, coerced);
    const plan = planner.planFor(anyCaller, coerced);
    return plan instanceof GraphQLError ? plan : undefined;
  } catch (error) {
    // A null for the argument of a directive.
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}
