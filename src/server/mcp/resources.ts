/** Resources: the schema, the table of errors, and records by their global ids. */
import { isObjectType } from 'graphql';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { typeRule } from '../../graph/engine/declarations.ts';
import { recordDocument } from '../../graph/engine/record-document.ts';
import { errorsMarkdown } from '../../graph/errors/markdown.ts';
import { printMarkedSchema } from '../../graph/null-conditions.ts';
import { lazily } from '../../lib/promises.ts';
import { secondsToKeep } from '../graphql/response-headers.ts';
import type { Exchange } from '../http/exchange.ts';
import type { ToolParts } from './tools.ts';

const NOT_FOUND = -32_002;

/** `showsSchema`: false where introspection is off. */
export function createResources({ schema, pipeline, run }: ToolParts, showsSchema: boolean) {
  const texts = [text('docs/errors.md', 'text/markdown', 'Error codes and what to do about them', errorsMarkdown)];
  if (showsSchema)
    texts.unshift(text('schema.graphql', 'application/graphql', 'The GraphQL schema', () => printMarkedSchema(schema)));
  const records = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => typeRule(type).nodeOf);
  const documents = new Map(records.map((type) => [type.name, recordDocument(type)]));

  return {
    list: texts.map(({ resource }) => resource),
    templates: [
      {
        uriTemplate: 'catalog://{type}/{id}',
        name: 'record',
        title: 'A record by its global id',
        description: `The record with the global id \`type:id\`. Types: ${[...documents.keys()].join(', ')}. Cost: 1 call.`,
        mimeType: 'application/json',
      },
    ],
    /** Rejects with an McpError, a GraphQLError or an HttpError. */
    async read(uri: string, exchange: Exchange) {
      const fixed = texts.find(({ resource }) => resource.uri === uri);
      if (fixed) return { uri, mimeType: fixed.resource.mimeType, text: fixed.text() };
      const [, type = '', id = ''] = /^catalog:\/\/(\w+)\/([^/?#]+)$/.exec(uri) ?? [];
      const document = documents.get(type);
      if (!document) throw new McpError(NOT_FOUND, 'Resource not found', { uri: uri.slice(0, 200) });
      const variables = { id: `${type}:${decoded(id)}` };
      const prepared = pipeline.prepare(document, undefined);
      const { data, errors, cachePolicy } = await run(prepared, { variables, exchange });
      const record = data?.record;
      if (!record && errors[0]) throw errors[0];
      if (!record) throw new McpError(NOT_FOUND, 'Resource not found', { uri });
      const ttl = cachePolicy?.scope === 'public' ? secondsToKeep(cachePolicy) : 0;
      // Seconds for which it may be kept; absent if it must not be.
      const kept = ttl > 0 && { _meta: { 'catalog-graphql/ttlSeconds': ttl } };
      return { uri, mimeType: 'application/json', text: JSON.stringify(record), ...kept };
    },
  };
}

const text = (name: string, mimeType: string, title: string, make: () => string) => ({
  resource: { uri: `catalog://${name}`, name, title, mimeType },
  text: lazily(make),
});

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
