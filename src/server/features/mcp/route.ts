/** The route /mcp: Model Context Protocol over Streamable HTTP, stateless, with responses in JSON. Loaded only where MCP is on. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Config } from '../../../config/settings.ts';
import { ConfigError } from '../../../config/read.ts';
import { packageDir } from '../../../package.ts';
import type { FeatureParts } from '../../feature.ts';
import type { Exchange } from '../../http/exchange.ts';
import { hasMoreValues } from '../../../engine/documents/limits.ts';
import { essenceOf, headersAllowed, isListedOrigin } from '../../http/request/headers.ts';
import { type HelpSettings, HttpError, advised } from '../../http/response/http-error.ts';
import { sendJson } from '../../http/response/static-response.ts';
import { type BodyReader, checkSurrogates } from '../../http/request/body.ts';
import { sendBody } from '../../http/response/send.ts';
import { createAnswer } from './protocol/answer.ts';
import { challenge, resourceOf } from './access-challenge.ts';
import { createFreeTools } from './query-tools.ts';
import { errorMessage } from './protocol/json-rpc.ts';
import { type MethodParts, createMethods } from './methods.ts';
import { createAgentSlots } from './agent-slots.ts';
import { createRunner } from './run.ts';
import { type ToolParts, createTools } from './tools.ts';

const METHODS = 'POST, OPTIONS';
const METADATA_METHODS = 'GET, HEAD, OPTIONS';
const VALUES_MAX = 10_000;

/** Throws a ConfigError if the tools cannot be made. */
export function createMcpRoutes(parts: FeatureParts) {
  const { config, bodies, admission } = parts;
  const toolParts = { ...parts, runForAgent: createRunner(parts) };
  const answerBody = createAnswer(createMethods(methodParts(toolParts)));
  const enter = createAgentSlots(config, admission);

  async function answer(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const { headers, method } = request;
    checkSource(request, config);
    exchange.headers.push('vary', 'Authorization, Origin, Accept-Encoding', 'cache-control', 'no-store');
    if (headers.origin) addMcpCors(exchange, headers.origin, METHODS);
    if (method === 'OPTIONS') return sendOptions(exchange, METHODS);
    // Without sessions there is no stream for a GET to open and none for a DELETE to end.
    if (method !== 'POST') throw new HttpError('METHOD_NOT_ALLOWED', 'Use POST.', { headers: { allow: METHODS } });
    // A page of another site cannot send this type without a preflight request.
    if (essenceOf(headers['content-type']) !== 'application/json')
      throw new HttpError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json.');
    const text = await readText(bodies, exchange);
    const leave = await enter(exchange);
    try {
      const value = typeof text === 'string' ? parsed(text) : text;
      const { status, body, needs } =
        value instanceof HttpError
          ? { status: 400, body: parseError(value, exchange, config), needs: undefined }
          : await answerBody(value, headers, { exchange });
      if (needs !== undefined && config.mcpAuthorizationServer !== undefined) throw challenge(needs, request, config);
      const type = body === '' ? [] : ['content-type', 'application/json'];
      sendBody(exchange, status, [...exchange.headers, ...type], body);
    } finally {
      leave();
    }
  }

  return {
    answer,
    /** The OAuth metadata of the route. They are public, so pages of every origin may read them. */
    metadata(exchange: Exchange): void {
      checkHost(exchange.request.headers.host ?? '', config);
      addMcpCors(exchange, '*', METADATA_METHODS);
      if (exchange.request.method === 'OPTIONS') return sendOptions(exchange, METADATA_METHODS);
      sendJson(exchange, 200, {
        resource: resourceOf(exchange.request, config),
        authorization_servers: [config.mcpAuthorizationServer],
        bearer_methods_supported: ['header'],
        resource_name: 'catalog-graphql',
      });
    },
  };
}

/** By which hosts the server is called, and whose pages may call it. */
type SourceSettings = Pick<Config, 'host' | 'corsOrigins' | 'mcpUrl'>;

/**
 * Rejects pages of other sites. A page that has its own name resolve to this machine sends that name as Host; it cannot send an IP address,
 * `localhost` or our own name.
 */
function checkSource({ headers: { host = '', origin } }: IncomingMessage, config: SourceSettings): void {
  checkHost(host, config);
  if (origin === undefined || isListedOrigin(origin, config.corsOrigins) || origin === ourUrl(config)?.origin) return;
  if (/^https?:\/\//.test(origin) && origin.slice(origin.indexOf('//') + 2) === host) return;
  throw new HttpError('ORIGIN_NOT_ALLOWED', 'Pages of this origin are not allowed.');
}

function checkHost(host: string, config: SourceSettings): void {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  const isOurs = isLocal(name) || name === config.host.toLowerCase() || name === ourUrl(config)?.hostname;
  // The address of the metadata is made of it: the grammar of the header allows ports that no URL has.
  if (!isOurs || !URL.canParse(`http://${host}/mcp`))
    throw new HttpError('ORIGIN_NOT_ALLOWED', 'This host is not allowed.');
}

const ourUrl = ({ mcpUrl }: SourceSettings): URL | undefined => (mcpUrl === undefined ? undefined : new URL(mcpUrl));

const isLocal = (name: string): boolean =>
  name === '' || name === 'localhost' || isIP(name.startsWith('[') ? name.slice(1, -1) : name) !== 0;

function methodParts(toolParts: ToolParts): MethodParts {
  const { config, log, upstream } = toolParts;
  const path = config.mcpOperations ?? join(packageDir, 'operations');
  const all = [...createTools(path, toolParts), ...(config.mcpFree ? createFreeTools(toolParts) : [])];
  const tools = new Map(all.map((each) => [each.tool.name, each]));
  if (tools.size < all.length)
    throw new ConfigError(['MCP_OPERATIONS: with MCP_FREE no operation may be named query or schema']);
  return { tools, log, service: upstream.service };
}

/** `Mcp-Method` and `Mcp-Name` are of the edition 2026-07-28; the last lines are headers that tracing adds to requests of pages. */
const REQUEST_HEADERS = [
  'authorization, content-type, accept, idempotency-key, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id',
  'x-request-id, traceparent, tracestate, baggage, sentry-trace',
].join(', ');

function addMcpCors({ request, headers }: Exchange, origin: string, methods: string): void {
  headers.push('access-control-allow-origin', origin);
  headers.push('access-control-expose-headers', 'idempotency-replayed, x-request-id, www-authenticate, retry-after');
  if (request.method !== 'OPTIONS') return;
  headers.push('access-control-allow-methods', methods);
  headers.push('access-control-allow-headers', headersAllowed(REQUEST_HEADERS, request.headers));
  headers.push('access-control-max-age', '86400');
}

function sendOptions(exchange: Exchange, methods: string): void {
  exchange.setHeaders();
  exchange.response.writeHead(204, { allow: methods }).end();
}

/** The text of a body; an HttpError if it is not UTF-8. Rejects with another HttpError for a body that cannot be read. */
async function readText(bodies: BodyReader, exchange: Exchange): Promise<string | HttpError> {
  try {
    return await bodies.read(exchange);
  } catch (error) {
    if (error instanceof HttpError && error.code === 'INVALID_TEXT') return error;
    throw error;
  }
}

/** The value of a body; an HttpError if it is not JSON. Throws an HttpError for one with more than VALUES_MAX, which take 3 ms of a tick. */
function parsed(body: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return new HttpError('BAD_REQUEST', 'The body must be JSON.', { status: 400 });
  }
  checkSurrogates(body);
  if (!hasMoreValues([value], VALUES_MAX)) return value;
  throw new HttpError('BODY_TOO_LARGE', `The body must have at most ${VALUES_MAX} values.`);
}

function parseError({ code, message }: HttpError, { requestId }: Exchange, config: HelpSettings): string {
  const data = { code, requestId, ...advised(code, config) };
  return errorMessage(null, new ProtocolError(ProtocolErrorCode.ParseError, message, data));
}
