/** Resources: the schema, the table of errors, and records by their global ids. */
import { type GraphQLSchema, isObjectType } from 'graphql';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { typeRule } from '../../graph/engine/declarations.ts';
import { recordDocument } from '../../graph/engine/record-document.ts';
import { errorsMarkdown } from '../../graph/errors/markdown.ts';
import { printMarkedSchema } from '../../graph/null-conditions.ts';
import { lazily } from '../../lib/promises.ts';
import type { Pipeline } from '../graphql/answer.ts';
import { secondsToKeep } from '../graphql/cache-control.ts';
import type { Exchange } from '../http/exchange.ts';
import { type AgentError, agentError } from './result.ts';
import type { RunForAgent } from './run.ts';

interface Content {
  uri: string;
  mimeType: string;
  text: string;
  /** Seconds for which it may be kept; absent if it must not be. */
  _meta?: { 'catalog-graphql/ttlSeconds': number };
  [other: string]: unknown;
}

export interface Resources {
  list: { uri: string; name: string; title: string; mimeType: string }[];
  templates: { uriTemplate: string; name: string; title: string; description: string; mimeType: string }[];
  read: (uri: string, exchange: Exchange) => Promise<Content>;
}

const NOT_FOUND = -32_002;

/** `showsSchema`: false where introspection is off. */
export function createResources(
  { schema, pipeline, run }: { schema: GraphQLSchema; pipeline: Pipeline; run: RunForAgent },
  showsSchema: boolean,
): Resources {
  const texts = new Map<string, { title: string; mimeType: string; text: () => string }>();
  const add = (name: string, mimeType: string, title: string, text: () => string) =>
    texts.set(name, { title, mimeType, text: lazily(text) });
  if (showsSchema) add('schema.graphql', 'application/graphql', 'The GraphQL schema', () => printMarkedSchema(schema));
  add('docs/errors.md', 'text/markdown', 'Error codes and what to do about them', errorsMarkdown);
  const records = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => typeRule(type).nodeOf);
  const documents = new Map(records.map((type) => [type.name, recordDocument(type)]));

  return {
    list: [...texts].map(([name, { title, mimeType }]) => ({ uri: `catalog://${name}`, name, title, mimeType })),
    templates: [
      {
        uriTemplate: 'catalog://{type}/{id}',
        name: 'record',
        title: 'A record by its global id',
        description: `The record with the global id \`type:id\`. Types: ${[...documents.keys()].join(', ')}. Cost: 1 call.`,
        mimeType: 'application/json',
      },
    ],
    async read(uri, exchange) {
      const [, path = ''] = /^catalog:\/\/(.+)$/s.exec(uri) ?? [];
      const fixed = texts.get(path);
      if (fixed) return { uri, mimeType: fixed.mimeType, text: fixed.text() };
      const [, type = '', id = ''] = /^(\w+)\/([^/?#]+)$/.exec(path) ?? [];
      const document = documents.get(type);
      if (!document) throw new McpError(NOT_FOUND, 'Resource not found', { uri: uri.slice(0, 200) });
      const variables = { id: `${type}:${decoded(id)}` };
      const { data, errors, cachePolicy } = await run(pipeline.prepare(document, undefined), {
        ...{ variables, exchange },
      });
      const record = data?.record;
      if (!record && errors[0]) throw mcpError(agentError(errors[0]));
      if (!record) throw new McpError(NOT_FOUND, 'Resource not found', { uri });
      const ttl = cachePolicy?.scope === 'public' ? secondsToKeep(cachePolicy) : 0;
      const kept = ttl > 0 ? { _meta: { 'catalog-graphql/ttlSeconds': ttl } } : {};
      return { uri, mimeType: 'application/json', text: JSON.stringify(record), ...kept };
    },
  };
}

export const mcpError = ({ code, message, ...more }: AgentError): McpError =>
  new McpError(code === 'BAD_USER_INPUT' ? ErrorCode.InvalidParams : ErrorCode.InternalError, message, {
    code,
    ...more,
  });

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
