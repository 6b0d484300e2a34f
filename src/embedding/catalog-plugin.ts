/** `catalogPlugin`: the operations of a facade in a Yoga server of the program, whose other plugins see them as those of any schema. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type ValidationRule,
  parse,
  print,
  specifiedRules,
  validate,
} from 'graphql';
import type { CatalogPluginOptions, EmbeddedFacade } from '../../facade.d.ts';
import { ConfigError, unknownOptions } from '../config/read.ts';
import type { Prepare } from '../engine/documents/prepare.ts';
import type { Plugin } from 'graphql-yoga';
import { acceptedTypes } from '../server/http/request/accept.ts';
import type { Execute, ProgramAnswer } from './execute.ts';

/** What the plugin needs of a facade. */
export interface PluginParts {
  schema: GraphQLSchema;
  execute: Execute;
  prepare: Prepare;
}

/** What it reads of the context of an operation: Yoga has a Request there, other servers that of Node. */
type RequestContext = Readonly<Record<string, unknown>> & {
  readonly request?: Pick<Request, 'headers' | 'signal'>;
  readonly req?: { readonly headers: IncomingHttpHeaders };
  readonly params?: { readonly operationName?: string | null; readonly onError?: unknown };
};

interface ParsedDocument {
  readonly text: string;
  readonly errors: readonly GraphQLError[];
}

const parts = new WeakMap<EmbeddedFacade, PluginParts>();

export const keepPluginParts = (facade: EmbeddedFacade, kept: PluginParts): unknown => parts.set(facade, kept);

export function catalogPlugin(facade: EmbeddedFacade, options: CatalogPluginOptions = {}): Plugin {
  const found = parts.get(facade);
  if (!found) throw new TypeError('catalogPlugin needs a facade that createFacade has returned.');
  const problems = unknownOptions(options, ['token', 'address']);
  if (problems.length > 0) throw new ConfigError(problems);
  const { schema, prepare, execute } = found;
  /** By the document as it was parsed here. Another plugin may replace it; then it is prepared again, from its printed text. */
  const parsed = new WeakMap<DocumentNode, ParsedDocument>();
  const prepared = (text: string, { params }: RequestContext) => prepare(text, params?.operationName ?? undefined);
  const textOf = (document: DocumentNode): string => parsed.get(document)?.text ?? print(document);

  function parseText(text: string, context: RequestContext): DocumentNode {
    const { ready, errors = [] } = prepared(text, context);
    const document = ready ? ready.document : parseInvalid(text, errors);
    parsed.set(document, { text, errors });
    return document;
  }

  function errorsOf(
    document: DocumentNode,
    context: RequestContext,
    rules: readonly ValidationRule[],
  ): readonly GraphQLError[] {
    const { errors = [] } = parsed.get(document) ?? prepared(print(document), context);
    // Which operation is meant is known when it is run: servers keep what is wrong with a document for all its operations.
    const own = errors.filter(({ extensions }) => extensions.code !== 'OPERATION_RESOLUTION_FAILURE');
    const added = rules.filter((rule) => !specifiedRules.includes(rule));
    return own.length > 0 || added.length === 0 ? own : validate(schema, document, added);
  }

  async function run({ document, operationName, variableValues: variables, contextValue }: ExecutionArgs) {
    const context = contextValue as RequestContext;
    const { request, params: { onError } = {} } = context;
    const headers = { ...headersOf(context) };
    if (options.token) {
      const token = await options.token(context);
      delete headers.authorization;
      if (token != null) headers.authorization = `Bearer ${token}`;
    }
    const { json = 'application/json', incremental } = acceptedTypes(headers.accept);
    const params = { query: textOf(document), operationName, variables, onError };
    const sent = { params, headers, address: options.address?.(context), json, incremental: incremental?.format };
    return execute({ ...sent, mayExplain: false, signal: request?.signal }, executed);
  }

  const plugin: Plugin<RequestContext, RequestContext> = {
    // Not before all plugins are there: a schema of another one would be replaced, and nobody would know.
    onEnveloped: ({ setSchema }) => setSchema(schema),
    onSchemaChange(changed) {
      if (changed.schema !== schema) throw new Error(TWO_SCHEMAS);
    },
    onParse({ context, setParseFn }) {
      setParseFn((source: string | { body: string }) =>
        parseText(typeof source === 'string' ? source : source.body, context),
      );
    },
    onValidate({ context, setValidationFn }) {
      setValidationFn((_: unknown, document: DocumentNode, rules: readonly ValidationRule[] = []) =>
        errorsOf(document, context, rules),
      );
    },
    onExecute: ({ setExecuteFn }) => setExecuteFn(run),
  };
  return plugin as Plugin; // it reads of a context what is there
}

const TWO_SCHEMAS =
  'This server has a schema of its own beside catalogPlugin, which runs operations by the schema of the facade alone. To have both, add its fields to the facade (extend of createFacade), or serve it at another path, in a server without catalogPlugin.';

const headersOf = ({ request, req }: RequestContext): IncomingHttpHeaders =>
  request ? Object.fromEntries(request.headers) : (req?.headers ?? {});

/** The result with errors as a server has them: their status is that of a request that was not run. */
function executed({ errors, ...rest }: FormattedExecutionResult, answer?: ProgramAnswer): ExecutionResult {
  if (!errors) return rest;
  const { statusCode: status = 200, headers: { 'retry-after': seconds } = {} } = answer ?? {};
  const headers: Record<string, string> = seconds ? { 'retry-after': seconds } : {};
  const http = answer && !('data' in rest) && { http: { status, headers } };
  const errorOf = ({ message, locations, path, extensions }: GraphQLFormattedError): GraphQLError =>
    Object.assign(new GraphQLError(message, { path, extensions: { ...extensions, ...http } }), { locations });
  return { ...rest, errors: errors.map(errorOf) };
}

/** What is wrong with a document that can be read is known of its text, and is told when it is validated. */
const TOLD_LATER: ReadonlySet<unknown> = new Set(['GRAPHQL_VALIDATION_FAILED', 'OPERATION_RESOLUTION_FAILURE']);

function parseInvalid(text: string, errors: readonly GraphQLError[]): DocumentNode {
  const [first] = errors;
  if (errors.every(({ extensions }) => TOLD_LATER.has(extensions.code))) return parse(text);
  throw errors.length === 1 ? first! : new AggregateError(errors, first!.message);
}
