/** The least and the most that an operation costs, whatever its variables are and whoever sends it, or with given variables. */
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  print,
  visit,
} from 'graphql';
import { NODES_MAX } from '../node-query.ts';
import { type Variables, hasVariables } from '../plan/document.ts';
import type { OperationPlan, PlannedField } from '../plan/operation-plan.ts';
import type { PlanViewer } from '../plan/plan-operation.ts';
import { worstCaseOf } from './call-cost.ts';
import type { WorstCase } from './worst-case.ts';
import { fewestCalls } from './call-range.ts';
import { dearestVariables, withSmallNumbers, withoutNullable } from './variable-bounds.ts';

export interface CostRange {
  /**
   * `least`: of a caller with a token, if nothing is cached and every record exists. `likely`: of `anyCaller`, if moreover every list is full
   * and every item has what the service sends of it.
   */
  calls: { least: number; likely: number; most: number };
  /** The most objects in lists. */
  items: number;
  /** The most fields of all objects. */
  values: number;
  /** The field with most calls, its path as response keys from the root; null if there are no calls. */
  dearest: { coordinate: string; path: string; calls: number } | null;
  /** The case with the most calls of `anyCaller`. */
  usual: Case;
  /** The worst case of each kind of caller, with each of the variables that may cost most by some measure. */
  worst: readonly WorstCase[];
}

/** A plan, and variables that it may be run with. */
interface Case {
  viewer: PlanViewer;
  plan: OperationPlan;
  variables: Variables;
}

const worstOf = ({ plan, variables }: Case): WorstCase => worstCaseOf(plan, variables);

/** What is planned: one operation of a document. */
interface PricedOperation {
  schema: GraphQLSchema;
  /** The forms of the document that may be run: a document costs more, or less, where it is delivered in parts. */
  documents: readonly DocumentNode[];
  operation: OperationDefinitionNode;
  planFor: PlanFor;
  /** The kinds of callers for whom it may cost different amounts, `anyCaller` among them. */
  viewers: readonly PlanViewer[];
}

/** Plans a form of the document, each once. Throws PlanTooLarge. */
export type PlanFor = (document: DocumentNode, viewer: PlanViewer, variables: Variables) => OperationPlan;

/** A caller with a token, whose film tier is not known yet. */
export const anyCaller: PlanViewer = { isLoggedIn: true, filmTier: null };

/** The cost with these variables, coerced. Throws PlanTooLarge. */
export function costWith(priced: PricedOperation, variables: Variables): CostRange {
  const { documents, planFor, viewers } = priced;
  const cases = documents.flatMap((document) =>
    viewers.map((viewer) => ({ viewer, variables, plan: planFor(document, viewer, variables) })),
  );
  const few = cases.filter(({ viewer }) => viewer.isLoggedIn).map(({ plan }) => fewestCalls(plan, variables, false));
  return rangeOf(few, cases);
}

/** The cost with any variables. `cheapest`: the coerced variables with which it costs least. Throws PlanTooLarge. */
export function costOfAny(priced: PricedOperation, cheapest: Variables): CostRange {
  const { schema, operation, viewers, planFor } = priced;
  const takesVariables = (operation.variableDefinitions ?? []).length > 0;
  const small = withSmallNumbers(schema, operation, cheapest);
  const given = small === cheapest ? [cheapest] : [cheapest, small];
  const few = priced.documents.map(withoutOptional).flatMap((shortest) =>
    viewers.flatMap((viewer) => {
      const plansFor = viewer.isLoggedIn ? given : [];
      return plansFor.map((variables) => fewestCalls(planFor(shortest, viewer, variables), variables, takesVariables));
    }),
  );
  return rangeOf(few, casesOfAny(priced));
}

/** The most that it costs with any variables: several cases, of which each may be the worst by another measure. Throws PlanTooLarge. */
function casesOfAny(priced: PricedOperation): Case[] {
  const { schema, operation, viewers, planFor } = priced;
  const forms = priced.documents.flatMap((document): readonly DocumentNode[] => {
    const longest = visit(document, { Directive: (node) => (isVariable(node) ? null : undefined) });
    // A list of which nothing is selected may come with a record that must be loaded for it.
    const rest = withoutOptional(document);
    return rest === document ? [longest] : [longest, rest];
  });
  const dearest = dearestVariables(schema, operation);
  // A small page may be one that a record has, beside a call that a larger one makes alone.
  const small = withSmallNumbers(schema, operation, dearest);
  const given = small === dearest ? [dearest] : [dearest, small];
  if (operation.operation === OperationTypeNode.MUTATION) given.push(withoutNullable(operation, dearest));
  const casesOf = (viewer: PlanViewer, form: DocumentNode, numbers: Variables): Case[] => {
    const plan = planFor(form, viewer, numbers);
    return withRecords(plan, operation, numbers).map((variables) => ({ viewer, plan, variables }));
  };
  return viewers.flatMap((viewer) => forms.flatMap((form) => given.flatMap((each) => casesOf(viewer, form, each))));
}

function rangeOf(few: readonly number[], cases: readonly Case[]): CostRange {
  const worst = cases.map(worstOf);
  const usual = cases.filter(({ viewer }) => viewer === anyCaller);
  const least = Math.min(...few);
  const dearest = worst.reduce((a, b) => (b.calls.max > a.calls.max ? b : a));
  const field = dearest.calls.fields.reduce((a, b) => (b.max > (a?.max ?? 0) ? b : a), dearest.calls.fields[0]);
  return {
    calls: {
      least,
      likely: Math.max(least, ...usual.map((each) => worstOf(each).calls.likely)),
      most: dearest.calls.max,
    },
    items: Math.max(...worst.map(({ items }) => items.max)),
    values: Math.max(...worst.map(({ values }) => values.max)),
    dearest: field ? { coordinate: field.coordinate, path: field.path, calls: field.max } : null,
    usual: usual.reduce((a, b) => (worstOf(b).calls.max > worstOf(a).calls.max ? b : a)),
    worst,
  };
}

/** The document without what a variable may leave out, or deliver with the rest: other conditions than @skip and @include are of parts. */
export function withoutOptional(document: DocumentNode): DocumentNode {
  const leave = (node: SelectionNode) => (node.directives?.some(isVariable) ? null : undefined);
  const Argument = ({ name, value }: ArgumentNode) =>
    name.value === 'if' && value.kind === Kind.VARIABLE ? null : undefined;
  return visit(document, { Field: leave, InlineFragment: leave, FragmentSpread: leave, Argument });
}

/** Whether a variable decides if the selection is there. */
const isVariable = ({ name, arguments: given = [] }: DirectiveNode): boolean =>
  (name.value === 'skip' || name.value === 'include') && given.some(({ value }) => value.kind === Kind.VARIABLE);

const measures: readonly ((worst: WorstCase) => number)[] = [
  ({ calls }) => calls.max,
  ({ calls }) => calls.services.catalog.max,
  ({ calls }) => calls.services.events.max,
  ({ items }) => items.max,
  ({ values }) => values.max,
];

/** `node` and `nodes` cost what the types of the given ids cost: the variables that cost most, for each measure. */
function withRecords(
  plan: OperationPlan,
  { variableDefinitions = [] }: OperationDefinitionNode,
  dearest: Variables,
): readonly Variables[] {
  const fields = plan.root.fields.filter(({ rule, nodes }) => rule.globalIds && hasVariables(nodes[0]!));
  if (fields.length === 0) return [dearest];
  const isList = (name: string) =>
    variableDefinitions.some(({ variable, type }) => variable.name.value === name && print(type).startsWith('['));
  const idsFor = (field: PlannedField, type: string): Variables =>
    Object.fromEntries(
      variablesIn(field.nodes[0]!).map((name) => {
        const id = `${type}:x`;
        return [name, isList(name) ? Array<string>(NODES_MAX).fill(id) : id];
      }),
    );
  // The calls of root fields add up, so that each field has its worst type whatever the others have.
  const cases = fields.map((field) =>
    [...field.selections.keys()].map((type) => {
      const ids = idsFor(field, type);
      return { ids, worst: worstCaseOf(plan, { ...dearest, ...ids }) };
    }),
  );
  const found = new Map<string, Variables>();
  for (const measure of measures) {
    const ids = cases.map((types) => types.reduce((a, b) => (measure(b.worst) > measure(a.worst) ? b : a)).ids);
    found.set(JSON.stringify(ids), Object.assign({}, dearest, ...ids) as Variables);
  }
  return [...found.values()];
}

function variablesIn(field: FieldNode): string[] {
  const names: string[] = [];
  visit({ ...field, selectionSet: undefined }, { Variable: ({ name }) => void names.push(name.value) });
  return names;
}
