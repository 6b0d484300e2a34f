/** Parses a document, checks the limits and validates it: what the server runs, and what is only assessed. */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  getOperationAST,
  parse,
  validate,
} from 'graphql';
import { type CoercedVariables, variablesOf } from '../plan/arguments.ts';
import { type Variables, isIncremental } from '../plan/document.ts';
import { withoutOptional } from '../cost/cost-range.ts';
import { type Planner, createPlanCache } from '../plan/plan-cache.ts';
import { withoutStack } from '../../upstream/errors.ts';
import { NOT_EXECUTABLE } from '../errors/codes.ts';
import { type DocumentSettings, costCheck, documentLimits, textLimit } from './limits.ts';
import { findIncrementalSelections, validationRules } from './validation-rules.ts';

/** An operation of a valid document. */
export interface PlannableDocument {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  planner: Planner;
  coerce: (given: Variables) => CoercedVariables;
  /** Without what a variable may leave out. */
  shortest: () => PlannableDocument;
  /** The selections of the operation with incremental delivery. */
  incrementalSelections: readonly SelectionNode[];
}

type CheckedDocument =
  { errors: readonly GraphQLError[]; ready?: undefined } | { errors?: undefined; ready: PlannableDocument };

/** `plannable` makes one of a document that needs no check. */
export function createDocumentCheck(schema: GraphQLSchema, settings: DocumentSettings) {
  const rulesFor = validationRules(settings);
  const plans = createPlanCache(schema, { maxFields: settings.maxPlannedFields, check: costCheck(settings) });
  const variableOptions = { maxErrors: 10, hideSuggestions: !settings.introspection };

  const plannable = (
    document: DocumentNode,
    operation: OperationDefinitionNode,
    incrementalSelections: readonly SelectionNode[] = [],
  ): PlannableDocument => ({
    document,
    operation,
    planner: plans.plannerFor(document, operation),
    coerce: variablesOf(schema, operation, variableOptions),
    incrementalSelections,
    shortest() {
      const rest = withoutOptional(document);
      return plannable(rest, getOperationAST(rest, operation.name?.value)!);
    },
  });

  function check(text: string, operationName: string | undefined): CheckedDocument {
    const tooLong = textLimit(text, settings);
    if (tooLong) return failed([tooLong]);
    let document: DocumentNode;
    try {
      document = parse(text, { maxTokens: settings.maxTokens });
    } catch (error) {
      const isTokens = /\d tokens\b/.test((error as Error).message);
      return failed([coded(error as GraphQLError, isTokens ? 'TOO_MANY_TOKENS' : 'GRAPHQL_PARSE_FAILED')]);
    }
    const over = documentLimits(document, settings);
    if (over.length > 0) return failed(over);
    const usesIncremental = isIncremental(document);
    const options = { hideSuggestions: !settings.introspection };
    const found = validate(schema, document, rulesFor(usesIncremental), options);
    const invalid = found.map((error) => withoutNodes(coded(error, 'GRAPHQL_VALIDATION_FAILED')));
    if (invalid.length > 0) return failed(invalid);
    const operation = getOperationAST(document, operationName);
    if (!operation || !schema.getRootType(operation.operation)) {
      const message = operation
        ? `The schema has no root type for a ${operation.operation}.`
        : operationName
          ? 'The document has no operation of that name.'
          : 'The document does not have exactly one operation: send `operationName`.';
      const extensions = { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: NOT_EXECUTABLE } };
      return failed([new GraphQLError(message, { extensions })]);
    }
    const incremental = usesIncremental ? findIncrementalSelections(document, operation) : [];
    return { ready: plannable(document, operation, incremental) };
  }

  return { check, plannable };
}

function failed(errors: readonly GraphQLError[]): CheckedDocument {
  // Clients that accept application/json alone expect the status 200 for these.
  for (const { extensions } of errors)
    extensions.http ??= { status: extensions.code === 'GRAPHQL_PARSE_FAILED' ? 400 : NOT_EXECUTABLE, spec: true };
  return { errors };
}

/** A copy of the error that has positions in the text instead of nodes, which would keep the whole tree in memory. */
const withoutNodes = ({ message, source, positions, extensions }: GraphQLError): GraphQLError =>
  withoutStack(() => new GraphQLError(message, { source: source ?? null, positions: positions ?? null, extensions }));

function coded(error: GraphQLError, code: string): GraphQLError {
  Object.assign(error.extensions, { code: error.extensions.code ?? code });
  return error;
}
