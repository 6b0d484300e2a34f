/** What both doors call: nothing of ours happens to an operation outside `prepare` and `answer`. */
import { setMaxListeners } from 'node:events';
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ValidationRule,
  execute,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { normalizedExecutor } from '@graphql-tools/executor';
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream';
import { getVariableValues } from 'graphql/execution/values.js';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Context } from '../graph/builder.ts';
import { type Cost, mostOf, rangeOf } from '../graph/cost.ts';
import { told } from '../graph/errors.ts';
import { type Plan, type Planner, createPlanner } from '../graph/plan.ts';
import type { TracedCall } from '../upstream/trace.ts';
import type { Upstream, UpstreamSource } from '../upstream/upstream.ts';
import { documentLimits, textLimit } from './limits.ts';
import type { Metrics } from './metrics.ts';

/** A document made ready once; what is wrong with it is told instead of running it. */
export interface Prepared {
  /** Absent where the text could not be parsed. */
  document: DocumentNode | undefined;
  operation: OperationDefinitionNode | undefined;
  operationName: string | undefined;
  errors: readonly GraphQLError[] | undefined;
  planner: Planner | undefined;
}

/** Who asks, as far as the request tells. */
export interface Caller {
  authorization: string | undefined;
  /** The x-explain header. */
  explain: string | undefined;
  address: string;
  requestId: string;
  /** Files are on their way: the operation has a longer deadline, from when the last byte of them has come. */
  arrival?: Promise<void> | undefined;
}

export interface Pipeline {
  prepare(text: string, operationName: string | undefined): Prepared;
  answer(
    prepared: Prepared,
    variables: Readonly<Record<string, unknown>> | undefined,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Result>;
}

/** One answer, or one that comes in pieces. */
export type Result = ExecutionResult | AsyncIterable<IncrementalResult>;
interface IncrementalResult extends ExecutionResult {
  hasNext?: boolean;
  incremental?: readonly { errors?: readonly GraphQLError[] }[];
}

export interface PipelineParts {
  schema: GraphQLSchema;
  config: Config;
  upstream: UpstreamSource;
  log: Logger;
  metrics: Metrics;
}

/** Documents kept ready. */
const DOCUMENTS_MAX = 1_000;

export function createPipeline({ schema, config, upstream, log, metrics }: PipelineParts): Pipeline {
  const rules = [...incrementalRules(), ...(config.introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const operations = metrics.counter('catalog_operations_total', 'Operations by type and outcome.');
  const errorCodes = metrics.counter('catalog_errors_total', 'Errors in answers by code.');
  const durations = metrics.histogram(
    'catalog_operation_seconds',
    'Time an operation took, by type.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  );
  const ready = new LRUCache<string, Prepared>({ max: DOCUMENTS_MAX });

  return {
    prepare(text, operationName) {
      const key = `${operationName ?? ''}\n${text}`;
      let prepared = ready.get(key);
      if (!prepared) {
        prepared = make(text, operationName);
        if (text.length <= config.maxDocumentCharacters) ready.set(key, prepared);
      }
      if (prepared.errors) count('none', prepared.errors);
      return prepared;
    },

    async answer(prepared, variables, caller, signal) {
      const { document, operation, errors, planner } = prepared;
      if (!document || !operation || !planner || errors) return { errors: errors ?? [] };
      const started = performance.now();
      const type = operation.operation;
      const result = await run(document, operation, planner, variables, caller, signal);
      count(type, 'errors' in result ? result.errors : undefined);
      durations.observe((performance.now() - started) / 1000, { type });
      return result;
    },
  };

  function make(text: string, operationName: string | undefined): Prepared {
    const failed = (document: DocumentNode | undefined, errors: readonly GraphQLError[]): Prepared => ({
      document,
      operation: undefined,
      operationName,
      errors,
      planner: undefined,
    });
    const tooLong = textLimit(text, config);
    if (tooLong) return failed(undefined, [tooLong]);
    let document: DocumentNode;
    try {
      document = parse(text, { maxTokens: config.maxTokens });
    } catch (error) {
      const isTokens = /token/i.test((error as Error).message) && /limit/i.test((error as Error).message);
      return failed(undefined, [coded(error as GraphQLError, isTokens ? 'TOO_MANY_TOKENS' : 'GRAPHQL_PARSE_FAILED')]);
    }
    const invalid = validate(schema, document, rules);
    if (invalid.length > 0)
      return failed(
        document,
        invalid.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED')),
      );
    const over = documentLimits(document, config);
    if (over.length > 0) return failed(document, over);
    const operation = getOperationAST(document, operationName);
    if (!operation) {
      const message = operationName
        ? 'The document has no operation of that name.'
        : 'Say which of the operations to run.';
      return failed(document, [new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })]);
    }
    return {
      document,
      operation,
      operationName,
      errors: undefined,
      planner: createPlanner(schema, document, operation),
    };
  }

  async function run(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    planner: Planner,
    variables: Readonly<Record<string, unknown>> | undefined,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Result> {
    const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {}, {
      maxErrors: 10,
    });
    if (errors) return { errors: errors.map((error) => coded(error, 'BAD_USER_INPUT')) };

    const ending = AbortSignal.any([signal, deadline(caller)]);
    setMaxListeners(0, ending); // every call of the operation listens
    const service = upstream.open({ ...caller, signal: ending });
    const plan = planner.planFor(service.viewer, coerced);
    const contextValue: Context = { viewer: service.viewer, upstream: service, plan, maxPictures: config.maxPictures };
    if (caller.explain === 'plan') {
      const extensions = { upstream: await rangeOf(plan, coerced, contextValue) };
      return { errors: [plannedNotRun], data: null, extensions };
    }
    const cost = mostOf(plan, coerced);
    if (cost.max > config.maxUpstreamCalls)
      return { errors: [tooExpensive(cost, config.maxUpstreamCalls)], data: null };

    const args = { schema, document, variableValues: variables, operationName: operation.name?.value, contextValue };
    if (!plan.defers) return shown(await execute(args), service, plan, caller);
    const result = (await normalizedExecutor(args)) as Result;
    return Symbol.asyncIterator in result
      ? inPieces(result, service, plan, caller)
      : shown(result, service, plan, caller);
  }

  function deadline({ arrival }: Caller): AbortSignal {
    if (!arrival) return AbortSignal.timeout(config.operationTimeoutMs);
    const controller = new AbortController();
    const end = () => controller.abort(new DOMException('The operation took too long.', 'TimeoutError'));
    void arrival.then(() => setTimeout(end, config.uploadTimeoutMs).unref());
    return controller.signal;
  }

  /** The answer as a client may see it. */
  function shown(result: ExecutionResult, service: Upstream, plan: Plan, caller: Caller): ExecutionResult {
    const errors = result.errors && masked(result.errors, plan, caller);
    const extensions = extensionsOf(service, caller);
    return { ...(errors ? { errors } : {}), data: result.data ?? null, ...(extensions ? { extensions } : {}) };
  }

  async function* inPieces(
    results: AsyncIterable<IncrementalResult>,
    service: Upstream,
    plan: Plan,
    caller: Caller,
  ): AsyncGenerator<IncrementalResult> {
    for await (const result of results) {
      const incremental = result.incremental?.map((piece) =>
        piece.errors ? { ...piece, errors: masked(piece.errors, plan, caller) } : piece,
      );
      const extensions = result.hasNext ? undefined : extensionsOf(service, caller);
      yield {
        ...result,
        ...(result.errors ? { errors: masked(result.errors, plan, caller) } : {}),
        ...(incremental ? { incremental } : {}),
        ...(extensions ? { extensions } : {}),
      };
    }
  }

  /** What stood in for fresh data, and the calls where they were asked for. */
  function extensionsOf({ trace }: Upstream, { explain }: Caller): Record<string, unknown> | undefined {
    const stale = trace.calls.filter((call) => call.staleSeconds !== undefined);
    if (stale.length === 0 && explain !== 'trace') return undefined;
    return {
      ...(stale.length
        ? { stale: stale.map(({ field, staleSeconds }) => ({ path: pathOf(field), ageSeconds: staleSeconds })) }
        : {}),
      ...(explain === 'trace' ? { upstream: { calls: trace.calls.map(rounded) } } : {}),
    };
  }

  function masked(errors: readonly GraphQLError[], plan: Plan, { requestId }: Caller): readonly GraphQLError[] {
    const refusedTiers = new Set<string>();
    return errors.flatMap((error) => {
      const coordinate = coordinateOf(error, plan);
      const cause = error.originalError;
      if (!cause || cause instanceof GraphQLError)
        return [coordinate && cause ? withCoordinate(error, coordinate) : error];
      const known = told(cause);
      if (known) {
        // A list would say the same of each of its items.
        if (known.extensions.code === 'TIER_REQUIRED') {
          if (refusedTiers.has(coordinate ?? '')) return [];
          refusedTiers.add(coordinate ?? '');
        }
        return [reworded(error, known.message, { ...known.extensions, coordinate })];
      }
      log.error({ err: cause, requestId, coordinate }, 'a field failed');
      return [reworded(error, 'Something went wrong.', { code: 'INTERNAL_SERVER_ERROR', requestId, coordinate })];
    });
  }

  function count(type: string, errors: readonly (GraphQLError | GraphQLFormattedError)[] | undefined): void {
    for (const error of errors ?? []) errorCodes.add({ code: codeOf(error) });
    operations.add({ type, outcome: errors ? 'errors' : 'ok' });
  }
}

const plannedNotRun = new GraphQLError('The operation was planned and not run.', {
  extensions: { code: 'PLANNED_NOT_RUN' },
});

/** Names the field that costs most: the one to change. */
function tooExpensive({ max, fields }: Cost, limit: number): GraphQLError {
  const dearest = fields.reduce((a, b) => (b.max > a.max ? b : a));
  return new GraphQLError(
    `The operation may cost ${max} calls of the service, at most ${limit} are allowed; ${dearest.coordinate} alone ${dearest.max}.`,
    { extensions: { code: 'TOO_MANY_CALLS', limit, actual: max, field: dearest.path, coordinate: dearest.coordinate } },
  );
}

/** The rules of the specification, those for incremental delivery among them: their library gives them as a hook only. */
function incrementalRules(): ValidationRule[] {
  const params = { rules: [...specifiedRules] };
  const added: ValidationRule[] = [];
  const hook = useDeferStream().onValidate as unknown as (payload: object) => void;
  hook({ params, addValidationRule: (rule: ValidationRule) => added.push(rule) });
  return [...params.rules, ...added];
}

/** A traced path as GraphQL writes one: keys, and numbers for places in lists. */
const pathOf = (field: string): (string | number)[] =>
  field.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key));

const rounded = (call: TracedCall) => ({
  ...call,
  startMs: Math.round(call.startMs * 10) / 10,
  ms: Math.round(call.ms * 10) / 10,
});

/** `Type.field` of the field that an error nulls. */
function coordinateOf({ nodes }: GraphQLError, plan: Plan): string | undefined {
  const fields = nodes?.filter((node) => node.kind === 'Field');
  const field = fields?.length ? plan.fieldAt(fields, '') : undefined;
  return field && `${field.parent}.${field.field.name}`;
}

function reworded({ nodes, path }: GraphQLError, message: string, extensions: Record<string, unknown>): GraphQLError {
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions });
}

const withCoordinate = (error: GraphQLError, coordinate: string): GraphQLError =>
  reworded(error, error.message, { ...error.extensions, coordinate });

function codeOf({ extensions }: GraphQLError | GraphQLFormattedError): string {
  return typeof extensions?.code === 'string' ? extensions.code : 'INTERNAL_SERVER_ERROR';
}

function coded(error: GraphQLError, code: string): GraphQLError {
  Object.assign(error.extensions, { code: error.extensions.code ?? code });
  return error;
}
