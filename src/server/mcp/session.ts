/** Answers the messages of one request. Nothing is kept between requests: each has a server of its own. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import type { Resources } from './resources.ts';
import { type ToolResult, rejectedResult } from './result.ts';
import type { CallableTool } from './tools.ts';

export interface SessionParts {
  version: string;
  tools: ReadonlyMap<string, CallableTool>;
  resources: Resources;
}

const instructions =
  'Each tool says what it costs at most, each result what it cost and what is left. An error says what to do; wait for `retryAfter` ' +
  'seconds where it is given. `cut` lists what did not fit, `next` the arguments to go on with.';

/** Arguments and results are checked by GraphQL, so no JSON Schema is compiled. */
const noValidator = {
  getValidator: () => () => {
    throw new Error('There is no JSON Schema validator.');
  },
};

/** `onLogin` is called when a tool or resource needs a token, or another one. */
export function openSession(
  { version, tools, resources }: SessionParts,
  exchange: Exchange,
  onLogin: () => void,
): Server {
  const server = new Server(
    { name: 'catalog-graphql', version },
    { capabilities: { tools: {}, resources: {} }, instructions, jsonSchemaValidator: noValidator },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<ToolResult> => {
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
      if (error instanceof HttpError) return rejectedResult(error);
      throw error;
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: resources.list }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: resources.templates }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    try {
      return { contents: [await resources.read(uri, exchange)] };
    } catch (error) {
      if (error instanceof McpError && isLoginCode((error.data as { code?: unknown } | undefined)?.code)) onLogin();
      if (error instanceof HttpError) throw new McpError(ErrorCode.InternalError, error.message, { code: error.code });
      throw error;
    }
  });
  return server;
}

const isLoginCode = (code: unknown): boolean => code === 'LOGIN_REQUIRED' || code === 'UNAUTHENTICATED';

const needsLogin = ({ structuredContent }: ToolResult): boolean =>
  (structuredContent?.errors as { code: string }[] | undefined)?.some(({ code }) => isLoginCode(code)) ?? false;
