/** Responds to the messages of one request. No state is kept between requests: each has a server of its own. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelledNotificationSchema,
  ErrorCode,
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { version } from '../../package.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import type { createResources } from './resources.ts';
import { type AgentError, agentError, failedResult } from './result.ts';
import type { CallableTool } from './tools.ts';

export interface SessionParts {
  tools: ReadonlyMap<string, CallableTool>;
  resources: ReturnType<typeof createResources>;
  log: Logger;
}

const instructions =
  'Each tool states the most calls that it can cost. Each result has the calls that it cost and, in `left`, the film calls that are left. ' +
  'Ids in arguments are those of results. Null without an error means that there is none. An error says what to do; if it has ' +
  '`retryAfter`, wait for that many seconds. `cut` lists the lists that were cut, with the arguments for their next items in `next`.';

/** Arguments and results are checked by GraphQL, so no JSON Schema is compiled. */
const noValidator = {
  getValidator: () => () => {
    throw new Error('There is no JSON Schema validator.');
  },
};

/** `onLogin` is called when a tool or resource needs a token, or another one. */
export function openSession({ tools, resources, log }: SessionParts, exchange: Exchange, onLogin: () => void): Server {
  const server = new Server(
    { name: 'catalog-graphql', version },
    { capabilities: { tools: {}, resources: {} }, instructions, jsonSchemaValidator: noValidator },
  );
  // A client cancels a request by closing its connection. A batch that cancels its own would never be answered.
  server.setNotificationHandler(CancelledNotificationSchema, () => undefined);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const { name, arguments: given = {}, task } = params;
    const tool = tools.get(name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
    // Checked here: the SDK would run the tool first.
    if (task) throw new McpError(ErrorCode.InvalidParams, 'Tools are not run as tasks.');
    try {
      const result = await tool.call(given, exchange);
      if (needsLogin(result)) onLogin();
      return result;
    } catch (error) {
      return failedResult(known(error));
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: resources.list }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: resources.templates }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    try {
      return { contents: [await resources.read(uri, exchange)] };
    } catch (error) {
      if (error instanceof McpError) throw error;
      const { code, message, ...more } = known(error);
      if (isLoginCode(code)) onLogin();
      const kind = code === 'BAD_USER_INPUT' ? ErrorCode.InvalidParams : ErrorCode.InternalError;
      throw new McpError(kind, message, { code, ...more });
    }
  });
  return server;

  /** Throws an error that masks any other. */
  function known(error: unknown): AgentError {
    if (error instanceof HttpError || (error instanceof GraphQLError && error.extensions.code))
      return agentError(error);
    const { requestId } = exchange;
    log.error({ err: error, requestId }, 'a request of an agent failed');
    throw new McpError(ErrorCode.InternalError, 'Something went wrong.', { code: 'INTERNAL_SERVER_ERROR', requestId });
  }
}

const isLoginCode = (code: unknown): boolean => code === 'LOGIN_REQUIRED' || code === 'UNAUTHENTICATED';

const needsLogin = ({ structuredContent }: CallToolResult): boolean =>
  (structuredContent?.errors as { code: string }[] | undefined)?.some(({ code }) => isLoginCode(code)) ?? false;
