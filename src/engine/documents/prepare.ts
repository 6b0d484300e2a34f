/** Prepares documents: parses them, checks the limits and validates. Results are cached, bounded by the memory that they take. */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type OperationTypeNode,
  type SelectionNode,
  getOperationAST,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/settings.ts';
import { type CoercedVariables, variablesOf } from '../plan/arguments.ts';
import type { Context } from '../context.ts';
import { type Variables, isIncremental, withoutIncremental } from '../plan/document.ts';
import { type Executed, createExecutor } from '../execute/executor.ts';
import type { OperationPlan } from '../plan/operation-plan.ts';
import { type Planner, createPlanCache } from '../plan/plan-cache.ts';
import { CACHE_MAX_BYTES, oncePer } from '../../lib/remember.ts';
import { withoutStack } from '../../upstream/errors.ts';
import { NOT_EXECUTABLE } from '../errors/codes.ts';
import { tracedParse, tracedValidate } from './graphql-channels.ts';
import { costCheck, documentLimits, textLimit } from './limits.ts';
import { findIncrementalSelections, validationRules } from './validation-rules.ts';

/** A prepared document. If it has errors, they are the response and it is not run. */
export type Prepared =
  { errors: readonly GraphQLError[]; ready?: undefined } | { errors?: undefined; ready: ExecutableDocument };

/** The operation of a document: one value for each document, also for what is stored of it when the document is gone. */
export interface NamedOperation {
  readonly type: OperationTypeNode;
  readonly name: string | undefined;
}

/** A valid document, ready to run. */
export interface ExecutableDocument {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  named: NamedOperation;
  planner: Planner;
  coerce: (given: Variables) => CoercedVariables;
  run: (context: Context, coerced: Variables) => Executed | Promise<Executed>;
  /** The selections of the operation with incremental delivery. */
  incrementalSelections: readonly SelectionNode[];
  /** The document without incremental delivery, for clients that accept none. */
  nonIncremental: () => ExecutableDocument;
  /** Drops its plans from the cache. */
  forget: () => void;
}

export type Prepare = (text: string, operationName: string | undefined) => Prepared;

/** Number and size of all cached documents. Bounded by size too: a syntax tree can be a hundred times as large as its text. */
const DOCUMENTS_MAX = 1_000;
/** Measured: 240 to 510 bytes a token, including its nodes and their locations. */
const TOKEN_BYTES = 500;
const ERROR_BYTES = 500;

export function createPrepare(schema: GraphQLSchema, config: Config): Prepare {
  const rulesFor = validationRules(config);
  const plans = createPlanCache(schema, { maxFields: config.maxPlannedFields, check: costCheck(config) });
  const known = new LRUCache<string, Prepared>({
    max: DOCUMENTS_MAX,
    maxSize: CACHE_MAX_BYTES.documents,
    sizeCalculation: bytesOf,
    dispose: ({ ready }) => ready?.forget(),
  });
  return (text, givenName) => {
    const operationName = givenName || undefined; // clients send an empty name for none
    // The length keeps a name apart from the beginning of a text.
    const key = operationName === undefined ? `\n${text}` : `${operationName.length} ${operationName}\n${text}`;
    let prepared = known.get(key);
    if (!prepared) {
      prepared = make(text, operationName);
      if (text.length <= config.maxDocumentCharacters) known.set(key, prepared);
      if (!known.has(key)) prepared.ready?.forget();
    }
    return prepared;
  };

  function make(text: string, operationName: string | undefined): Prepared {
    const tooLong = textLimit(text, config);
    if (tooLong) return failed([tooLong]);
    let document: DocumentNode;
    try {
      document = tracedParse(text, { maxTokens: config.maxTokens });
    } catch (error) {
      const isTokens = /\d tokens\b/.test((error as Error).message);
      return failed([coded(error as GraphQLError, isTokens ? 'TOO_MANY_TOKENS' : 'GRAPHQL_PARSE_FAILED')]);
    }
    const over = documentLimits(document, config);
    if (over.length > 0) return failed(over);
    const usesIncremental = isIncremental(document);
    const options = { hideSuggestions: !config.suggestions };
    const found = tracedValidate(schema, document, rulesFor(usesIncremental), options);
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
    const ready = executable(document, operation);
    if (usesIncremental) ready.incrementalSelections = findIncrementalSelections(document, operation);
    if (ready.incrementalSelections.length > 0) {
      let whole: ExecutableDocument | undefined;
      ready.nonIncremental = () => {
        if (whole) return whole;
        const plain = withoutIncremental(document);
        return (whole = executable(plain, getOperationAST(plain, operationName)!));
      };
      ready.forget = () => [ready, whole].forEach((each) => each?.planner.forget());
    }
    return { ready };
  }

  function executable(document: DocumentNode, operation: OperationDefinitionNode): ExecutableDocument {
    const executorFor = oncePer((plan: OperationPlan) => createExecutor(schema, plan));
    const ready: ExecutableDocument = {
      document,
      operation,
      named: { type: operation.operation, name: operation.name?.value },
      planner: plans.plannerFor(document, operation),
      coerce: variablesOf(schema, operation, { maxErrors: 10, hideSuggestions: !config.suggestions }),
      run: (context, coerced) => executorFor(context.plan)(context, coerced),
      incrementalSelections: [],
      nonIncremental: () => ready,
      forget: () => ready.planner.forget(),
    };
    return ready;
  }
}

/** A document with incremental delivery may be kept without it too. */
function bytesOf({ ready, errors = [] }: Prepared, key: string): number {
  const tokens = (ready?.document.tokenCount ?? 0) * (ready?.incrementalSelections.length ? 2 : 1);
  const messages = errors.reduce((sum, { message }) => sum + ERROR_BYTES + 2 * message.length, 0);
  return 2 * key.length + TOKEN_BYTES * tokens + messages;
}

function failed(errors: readonly GraphQLError[]): Prepared {
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
