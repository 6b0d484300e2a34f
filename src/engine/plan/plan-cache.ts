/** Caches the plans of all documents, bounded by their total size. */
import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { argumentsOf } from './arguments.ts';
import { fieldRule } from './read-declarations.ts';
import { type Variables, hasVariables } from './document.ts';
import type { OperationPlan, PlannedField } from './operation-plan.ts';
import { argumentsAllowEmbedded } from './needed-members.ts';
import { PlanTooLarge, type PlanViewer, planOperation } from './plan-operation.ts';
import { variantIn } from './variants.ts';
import { CACHE_MAX_BYTES } from '../../lib/remember.ts';

/** The error if a plan must not be run with these variables; undefined if it may. */
export type PlanCheck = (plan: OperationPlan, variables: Variables) => GraphQLError | undefined;

interface PlanSettings {
  /** Fields that one plan may have. */
  maxFields?: number;
  /** Fields of all cached plans together. */
  maxCachedFields?: number;
  check?: PlanCheck;
}

/** With its resolver state, a planned field takes 1 to 1.5 kB. */
const FIELD_BYTES = 1_250;
const CACHED_FIELDS_MAX = CACHE_MAX_BYTES.plans / FIELD_BYTES;
/** Fixed size of a plan or an error, in fields. */
const OVERHEAD_FIELDS = 2;
/** Characters of a key that count as one field. */
const KEY_CHARACTERS = 500;
/** Tokens of a document that count as one field: a plan holds the syntax tree, with up to 500 bytes a token. */
const FIELD_TOKENS = 2.5;

const isAllowed: PlanCheck = () => undefined;

export function createPlanCache(
  schema: GraphQLSchema,
  { maxFields = Infinity, maxCachedFields = CACHED_FIELDS_MAX, check = isAllowed }: PlanSettings = {},
) {
  const kept = new LRUCache<string, OperationPlan | GraphQLError>({ maxSize: maxCachedFields });
  let documents = 0;
  return {
    plannerFor,
    /** Size of all cached plans, in fields. */
    cachedFields: () => kept.calculatedSize,
  };

  /** Makes the plans of one document. */
  function plannerFor(document: DocumentNode, operation: OperationDefinitionNode) {
    const steering = planKeyOf(schema, document);
    const number = ++documents;
    const treeFields = (document.tokenCount ?? 0) / FIELD_TOKENS;
    return {
      /** The plan for a request, or the error why it must not be run. */
      planFor(viewer: PlanViewer, variables: Variables): OperationPlan | GraphQLError {
        const key = keyFor(viewer, variables);
        const known = kept.get(key);
        if (known && (known instanceof GraphQLError || !known.varies)) return known; // checked when it was made
        const plan = known ?? make(viewer, variables);
        const error = plan instanceof GraphQLError ? plan : check(plan, variables);
        // Cache only what holds for every request with this key: a plan that may run, or an error that no variable changes.
        const outcome = error ?? plan;
        if (!known && (plan instanceof GraphQLError || !error || !plan.varies)) keep(key, outcome);
        return outcome;
      },
      /** The plan, which is not checked: it is shown and not run. */
      planToShow(viewer: PlanViewer, variables: Variables): OperationPlan | GraphQLError {
        const known = kept.get(keyFor(viewer, variables));
        return known && !(known instanceof GraphQLError) ? known : make(viewer, variables);
      },
    };

    function keep(key: string, outcome: OperationPlan | GraphQLError): void {
      const fields = outcome instanceof GraphQLError ? 0 : outcome.size + treeFields;
      kept.set(key, outcome, { size: Math.floor(OVERHEAD_FIELDS + key.length / KEY_CHARACTERS + fields) });
    }

    function keyFor({ isLoggedIn, filmTier }: PlanViewer, variables: Variables): string {
      return `${number} ${isLoggedIn ? 1 : 0}${filmTier ?? ''} ${steering(variables)}`;
    }

    function make(viewer: PlanViewer, variables: Variables): OperationPlan | GraphQLError {
      try {
        return planOperation(schema, document, operation, viewer, variables, maxFields);
      } catch (error) {
        if (error instanceof PlanTooLarge) return error;
        throw error;
      }
    }
  }
}

export type Planner = ReturnType<ReturnType<typeof createPlanCache>['plannerFor']>;

/**
 * The variables' part of the key of a cached plan. Variables decide two things: whether a selection is included, and whether the
 * arguments of a field allow an embedded member as its value. The key has these decisions instead of values, one character each, so its
 * length is bounded by the document and clients cannot create an unlimited number of keys. It is '' if no variable affects the plan.
 */
export function planKeyOf(schema: GraphQLSchema, document: DocumentNode): (variables: Variables) => string {
  const conditions = new Set<string>();
  const fields: Pick<PlannedField, 'rule' | 'args'>[] = [];
  const types = new TypeInfo(schema);
  const visitor: ASTVisitor = {
    Field(node) {
      const field = types.getFieldDef();
      if (!field || !hasVariables(node)) return;
      const rule = fieldRule(field);
      if (rule.embedded) fields.push({ rule, args: argumentsOf(field, node) });
    },
    /** @skip, @include, @defer or @stream. */
    Directive({ arguments: given = [] }) {
      for (const { name, value } of given)
        if (name.value === 'if' && value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  if (conditions.size === 0 && fields.length === 0) return () => '';
  return (variables) => {
    let key = '';
    for (const name of conditions) key += variables[name] === true ? '1' : variables[name] === false ? '0' : '-';
    for (const { rule, args } of fields) {
      key += argumentsAllowEmbedded(rule, args, variables) ? '1' : '0';
      // One of the few values that the schema has for the parameter.
      if (rule.variant) key += variantIn(rule, args, variables) ?? '';
    }
    return key;
  };
}
