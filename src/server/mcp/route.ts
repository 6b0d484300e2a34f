/** The route /mcp: Model Context Protocol over Streamable HTTP, stateless, with responses in JSON. Loaded only where MCP is on. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Config } from '../../config/settings.ts';
import { ConfigError } from '../../config/read.ts';
import { packageDir } from '../../package.ts';
import type { RouteParts } from '../graphql/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { hasMoreValues } from '../graphql/limits.ts';
import { showsSchema } from '../graphql/persisted-documents.ts';
import { isListedOrigin } from '../http/headers.ts';
import { HttpError } from '../http/http-error.ts';
import { sendJson } from '../http/read-only.ts';
import { parsedJson } from '../http/request-body.ts';
import { sendBody } from '../http/send.ts';
import { createFreeTools } from './free.ts';
import { createResources } from './resources.ts';
import { createRunner } from './run.ts';
import { type SessionParts, openSession } from './session.ts';
import { createTools } from './tools.ts';

const METADATA_PATH = '/.well-known/oauth-protected-resource';
const METHODS = 'POST, OPTIONS';
const MESSAGES_MAX = 10;
const VALUES_MAX = 10_000;

/** Throws a ConfigError if the tools cannot be made. */
export function createMcpRoutes(parts: RouteParts) {
  const { config, bodies, log } = parts;
  const session = sessionParts(parts);

  async function answer(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const { headers, method } = request;
    checkSource(request, config);
    exchange.headers.push('vary', 'Authorization, Origin, Accept-Encoding', 'cache-control', 'no-store');
    if (headers.origin) addMcpCors(exchange, headers.origin);
    if (method === 'OPTIONS') {
      exchange.setHeaders();
      return void exchange.response.writeHead(204, { allow: METHODS }).end();
    }
    // Without sessions there is no stream for a GET to open and none for a DELETE to end.
    if (method !== 'POST') throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use POST.', { allow: METHODS });
    const message = messageIn(await bodies.read(exchange));
    let isLoginNeeded = false;
    const server = openSession(session, exchange, () => (isLoginNeeded = true));
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
      await server.connect(transport);
      const response = await transport.handleRequest(withoutSecrets(request), { parsedBody: message });
      const text = response.status === 202 ? '' : await response.text();
      if (!exchange.isOpen) return;
      if (isLoginNeeded && config.mcpAuthorizationServer !== undefined) throw loginRequired(request, config);
      const type = response.headers.get('content-type');
      sendBody(exchange, response.status, [...exchange.headers, ...(type ? ['content-type', type] : [])], text);
    } finally {
      await server.close().catch((error: unknown) => log.error({ err: error }, 'a session did not close'));
    }
  }

  return {
    answer,
    /** The OAuth metadata of the route. */
    metadata(exchange: Exchange): void {
      checkSource(exchange.request, config);
      sendJson(exchange, 200, {
        resource: resourceOf(exchange.request, config),
        authorization_servers: [config.mcpAuthorizationServer],
        bearer_methods_supported: ['header'],
        resource_name: 'catalog-graphql',
      });
    },
  };
}

/**
 * Rejects pages of other sites. A page that has its own name resolve to this machine sends that name as Host; it cannot send an IP address,
 * `localhost` or our own name.
 */
function checkSource({ headers: { host = '', origin } }: IncomingMessage, config: Config): void {
  const ours = config.mcpUrl === undefined ? undefined : new URL(config.mcpUrl);
  const name = host.replace(/:\d*$/, '').toLowerCase();
  const isOurs = isLocal(name) || name === config.host.toLowerCase() || name === ours?.hostname;
  if (!isOurs) throw new HttpError(403, 'ORIGIN_NOT_ALLOWED', 'This host is not allowed.');
  if (origin === undefined || isListedOrigin(origin, config.corsOrigins) || origin === ours?.origin) return;
  if (/^https?:\/\//.test(origin) && origin.slice(origin.indexOf('//') + 2) === host) return;
  throw new HttpError(403, 'ORIGIN_NOT_ALLOWED', 'Pages of this origin are not allowed.');
}

const isLocal = (name: string): boolean =>
  name === '' || name === 'localhost' || isIP(name.startsWith('[') ? name.slice(1, -1) : name) !== 0;

function sessionParts(parts: RouteParts): SessionParts {
  const { config, log } = parts;
  const path = config.mcpOperations ?? join(packageDir, 'operations');
  const toolParts = { ...parts, run: createRunner(parts) };
  const all = [...createTools(path, toolParts), ...(config.mcpFree ? createFreeTools(toolParts) : [])];
  const tools = new Map(all.map((each) => [each.tool.name, each]));
  if (tools.size < all.length)
    throw new ConfigError(['MCP_OPERATIONS: with MCP_FREE no operation may be named query or schema']);
  const resources = createResources(toolParts, showsSchema(config) || config.mcpFree);
  return { tools, resources, log };
}

const resourceOf = ({ headers: { host } }: IncomingMessage, { mcpUrl }: Config): string =>
  mcpUrl ?? `http://${host}/mcp`;

function addMcpCors({ request, headers }: Exchange, origin: string): void {
  headers.push('access-control-allow-origin', origin);
  headers.push('access-control-expose-headers', 'x-request-id, www-authenticate');
  if (request.method !== 'OPTIONS') return;
  const allowed = 'authorization, content-type, accept, mcp-protocol-version, mcp-session-id, last-event-id';
  headers.push('access-control-allow-methods', 'POST', 'access-control-allow-headers', allowed);
}

/** The client learns from the header where to log in. */
function loginRequired(request: IncomingMessage, config: Config): HttpError {
  const metadata = new URL(`${METADATA_PATH}/mcp`, resourceOf(request, config)).href;
  const challenge = `Bearer resource_metadata="${metadata}"`;
  return new HttpError(401, 'UNAUTHENTICATED', 'This needs a token that the service knows.', {
    'www-authenticate': request.headers.authorization ? `${challenge}, error="invalid_token"` : challenge,
  });
}

/** A message, or a batch of them. Both are small: the SDK answers all messages of a request in one turn of the event loop. */
function messageIn(body: string): unknown {
  const message = parsedJson(body, 'The body');
  const isLong = Array.isArray(message) && message.length > MESSAGES_MAX;
  if (!isLong && !hasMoreValues([message], VALUES_MAX)) return message;
  const limits = `The body must have at most ${MESSAGES_MAX} messages and ${VALUES_MAX} values.`;
  throw new HttpError(413, 'BODY_TOO_LARGE', limits);
}

/** The request as the SDK needs it: its token stays with us. */
function withoutSecrets(request: IncomingMessage): Request {
  const headers = new Headers();
  for (const name of ['accept', 'content-type', 'mcp-protocol-version']) {
    const value = request.headers[name];
    if (value) headers.set(name, String(value));
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers });
}
