/** `catalogPlugin`: the operations of a facade in a Yoga server of the program, whose other plugins see them as those of any schema. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  parse,
  print,
  specifiedRules,
  validate,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { CatalogPluginOptions, EmbeddedFacade } from '../../facade.d.ts';
import { ConfigError, unknownOptions } from '../config/read.ts';
import type { Prepare } from '../engine/documents/prepare.ts';
import { operationPlugin } from '../server/graphql/operation-plugin.ts';
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

  const plugin = operationPlugin<RequestContext>({
    schema,
    parse(text, context) {
      const { ready, errors = [] } = prepared(text, context);
      const document = ready ? ready.document : parseInvalid(text, errors);
      parsed.set(document, { text, errors });
      return document;
    },
    validate(document, context, rules) {
      const { errors = [] } = parsed.get(document) ?? prepared(print(document), context);
      // Which operation is meant is known when it is run: servers keep what is wrong with a document for all its operations.
      const own = errors.filter(({ extensions }) => extensions.code !== 'OPERATION_RESOLUTION_FAILURE');
      const added = rules.filter((rule) => !specifiedRules.includes(rule));
      return own.length > 0 || added.length === 0 ? own : validate(schema, document, added);
    },
    async execute({ document, operationName, variableValues: variables, contextValue: context }) {
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
    },
  });
  return plugin as Plugin; // it reads of a context what is there
}

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

/** What is wrong with a document that can be read is known of its text, and is reported when it is validated. */
const REPORTED_LATER: ReadonlySet<unknown> = new Set(['GRAPHQL_VALIDATION_FAILED', 'OPERATION_RESOLUTION_FAILURE']);

function parseInvalid(text: string, errors: readonly GraphQLError[]): DocumentNode {
  const [first] = errors;
  if (errors.every(({ extensions }) => REPORTED_LATER.has(extensions.code))) return parse(text);
  throw errors.length === 1 ? first! : new AggregateError(errors, first!.message);
}
