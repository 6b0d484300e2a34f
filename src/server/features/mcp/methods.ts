/**
 * The methods of the protocol. No state is kept between requests.
 *
 * The SDK distinguishes the editions and has the schemas of requests. Its own dispatch is not used: it makes each list anew, and its error
 * codes are not those of JSON-RPC.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  type SpecTypeName,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { shortText } from '../../../engine/errors/shown-value.ts';
import { lazily } from '../../../lib/promises.ts';
import { version } from '../../../package.ts';
import { HttpError } from '../../http/response/http-error.ts';
import type { ServiceDescriptor } from '../../../api/service-descriptor.ts';
import { type MissingAccess, missingIn } from './access-challenge.ts';
import type { Json, RpcRequest } from './protocol/json-rpc.ts';
import type { AgentRequest } from './agent-slots.ts';
import { agentError, failedResult } from './result.ts';
import type { CallableTool } from './tools.ts';

/**
 * `session`: the editions whose clients send `initialize` first. `request`: the later ones, where each request names its edition; their
 * results say of which type they are, who made them, and how long they may be kept.
 */
export type Era = 'session' | 'request';

export const SESSION_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;
export const REQUEST_VERSIONS: readonly string[] = ['2026-07-28'];
export const VERSIONS: readonly string[] = [...REQUEST_VERSIONS, ...SESSION_VERSIONS];

export interface MethodParts {
  service: ServiceDescriptor;
  tools: ReadonlyMap<string, CallableTool>;
  log: Logger;
}

export interface MethodResult {
  /** The result, or an error. */
  outcome: Json | ProtocolError;
  /** What the token lacked for all of it. */
  needs?: MissingAccess | undefined;
}

const PROBLEM_MAX = 300;

type Params = Record<string, unknown>;
type Handler = (params: Params, request: AgentRequest) => MethodResult | Promise<MethodResult>;

interface Method {
  /** The schema of its requests. */
  schema: SpecTypeName;
  handle: Handler;
}

const serverInfo = { name: 'catalog-graphql', version };
const capabilities = { tools: {} };
const instructions =
  'Each tool states the most calls that it can cost. Each result has the calls that it cost and, in `left`, the film calls that are left. ' +
  'Ids in arguments are those of results. Null without an error means that there is none. An error says what to do; if it has ' +
  '`retryAfter`, wait for that many seconds; `alsoAt` has the other paths that it is for. with the path `errors` in `cut`, ' +
  'null may be an error that was left out.';

/** How long, and for whom, a client may keep what depends on the settings alone: it changes with a restart. */
const CACHED = { ttlMs: 300_000, cacheScope: 'public' } as const;

export type RespondTo = (message: RpcRequest, request: AgentRequest) => Promise<MethodResult>;

export function createMethods(parts: MethodParts): Readonly<Record<Era, RespondTo>> {
  return {
    session: responder(
      { ...sharedMethods(parts, 'session'), initialize: { schema: 'InitializeRequest', handle: initialize }, ping },
      parts.log,
    ),
    request: responder({ ...sharedMethods(parts, 'request'), 'server/discover': discover }, parts.log),
  };
}

function responder(methods: Readonly<Record<string, Method>>, log: Logger): RespondTo {
  const byName = new Map(Object.entries(methods));
  return async ({ method: name, params }, request) => {
    const method = byName.get(name);
    if (!method) return failed(ProtocolErrorCode.MethodNotFound, `Unknown method: ${name.slice(0, 100)}`);
    const problem = problemOf(name, method.schema, params);
    if (problem !== undefined) return failed(ProtocolErrorCode.InvalidParams, `Invalid params of ${name}: ${problem}.`);
    try {
      return await method.handle(params ?? {}, request);
    } catch (error) {
      const { requestId } = request.exchange;
      log.error({ err: error, requestId }, 'a request of an agent failed');
      return failed(ProtocolErrorCode.InternalError, 'Something went wrong.', {
        code: 'INTERNAL_SERVER_ERROR',
        requestId,
      });
    }
  };
}

const failed = (code: number, message: string, data?: object): MethodResult => ({
  outcome: new ProtocolError(code, message, data),
});

/** The first member that is invalid; undefined if all are valid. */
function problemOf(method: string, schema: SpecTypeName, params: Params | undefined): string | undefined {
  const checked = specTypeSchemas[schema]['~standard'].validate({ method, ...(params && { params }) });
  const [issue] = 'issues' in checked ? (checked.issues ?? []) : [];
  // Lists are whole, so none has a next page.
  if (!issue) return params?.cursor === undefined ? undefined : '`cursor` is unknown';
  const [, ...path] = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  return shortText(`\`${path.join('.') || 'params'}\`: ${issue.message.replace('Invalid input: ', '')}`, PROBLEM_MAX);
}

const initialize: Handler = ({ protocolVersion }) => {
  const known = SESSION_VERSIONS.find((each) => each === protocolVersion) ?? SESSION_VERSIONS[0];
  return { outcome: JSON.stringify({ protocolVersion: known, capabilities, serverInfo, instructions }) };
};

const ping: Method = { schema: 'PingRequest', handle: () => ({ outcome: '{}' }) };

const discover: Method = {
  schema: 'DiscoverRequest',
  handle: kept('request', { supportedVersions: VERSIONS, capabilities, instructions }),
};

/** The methods of all editions. */
function sharedMethods(parts: MethodParts, era: Era): Record<string, Method> {
  const tools = [...parts.tools.values()].map(({ tool }) => tool);
  return {
    'tools/list': { schema: 'ListToolsRequest', handle: kept(era, { tools }) },
    'tools/call': { schema: 'CallToolRequest', handle: (params, request) => callTool(parts, era, params, request) },
  };
}

/** The member of a call's `_meta` with its idempotency key: clients of the SDK have no header of one call. */
const IDEMPOTENCY_KEY = 'catalog-graphql/idempotency-key';

async function callTool(
  { tools, service }: MethodParts,
  era: Era,
  { name, arguments: given = {}, task, _meta }: Params,
  request: AgentRequest,
): Promise<MethodResult> {
  const tool = tools.get(String(name));
  if (!tool) return failed(ProtocolErrorCode.InvalidParams, `Unknown tool: ${String(name).slice(0, 100)}`);
  if (task) return failed(ProtocolErrorCode.InvalidParams, 'Tools are not run as tasks.');
  try {
    const { headers } = request.exchange.request;
    const idempotencyKey = (_meta as Params | undefined)?.[IDEMPOTENCY_KEY] ?? headers['idempotency-key'];
    const { result, needs } = await tool.call(given as Params, { ...request, idempotencyKey });
    return { outcome: resultText(era, result), needs };
  } catch (error) {
    if (!isKnown(error)) throw error;
    return { outcome: resultText(era, failedResult(agentError(error))), needs: missingIn(service, [error]) };
  }
}

const isKnown = (error: unknown): error is GraphQLError | HttpError =>
  error instanceof HttpError || (error instanceof GraphQLError && error.extensions.code !== undefined);

/** A result that never changes, made once. */
function kept(era: Era, result: Params): Handler {
  const bytes = lazily(() => Buffer.from(resultText(era, result, CACHED)));
  return () => ({ outcome: bytes() });
}

function resultText(era: Era, result: Params, caching?: typeof CACHED): string {
  if (era === 'session') return JSON.stringify(result);
  return JSON.stringify({
    ...result,
    ...caching,
    resultType: 'complete',
    _meta: { [SERVER_INFO_META_KEY]: serverInfo },
  });
}
