/** Resources: the schema, the table of errors, and records by their global ids. */
import { isObjectType } from 'graphql';
import { typeRule } from '../../../engine/plan/read-declarations.ts';
import { recordDocument } from './documents/record-document.ts';
import { fixed } from '../../../config/fixed.ts';
import { errorsMarkdown } from '../../../engine/errors/markdown.ts';
import { printMarkedSchema } from '../../../engine/null-conditions.ts';
import { lazily } from '../../../lib/promises.ts';
import { percentDecoded } from '../../../lib/text/unicode.ts';
import { secondsToKeep } from '../../graphql/outcome.ts';
import type { AgentRequest } from './places.ts';
import type { ToolParts } from './tools.ts';

/** How long, and for whom, a client may keep a result. */
export interface Caching {
  ttlMs: number;
  cacheScope: 'public' | 'private';
}

/** `showsSchema`: false where introspection is off. */
export function createResources({ schema, prepare, runForAgent }: ToolParts, showsSchema: boolean) {
  const texts = [
    text('docs/errors.md', 'text/markdown', 'Error codes and what to do about them', () => errorsMarkdown(fixed)),
  ];
  if (showsSchema)
    texts.unshift(text('schema.graphql', 'application/graphql', 'The GraphQL schema', () => printMarkedSchema(schema)));
  const records = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => typeRule(type).nodeOf);
  const documents = new Map(
    records.map((type) => [type.name.toLowerCase(), { name: type.name, document: recordDocument(type) }]),
  );

  return {
    list: texts.map(({ resource }) => resource),
    templates: [
      {
        uriTemplate: 'catalog://{type}/{id}',
        name: 'record',
        title: 'A record by its global id',
        description: `The record with the global id \`type:id\`. Types: ${records.map(({ name }) => name).join(', ')}. Cost: 1 call.`,
        mimeType: 'application/json',
      },
    ],
    /** They never change. */
    documents: texts.map(({ resource: { uri, mimeType }, text }) => ({
      uri,
      content: () => ({ uri, mimeType, text: text() }),
    })),
    /** The record of the URI; undefined if there is none. Rejects with a GraphQLError or an HttpError. */
    async read(uri: string, request: AgentRequest) {
      // In the URI the type is the host, which clients may write in lower case.
      const [, type = '', id = ''] = /^catalog:\/\/(\w+)\/([^/?#]+)$/i.exec(uri) ?? [];
      const record = documents.get(type.toLowerCase());
      if (!record) return undefined;
      const variables = { id: `${record.name}:${percentDecoded(id) ?? id}` };
      const prepared = prepare(record.document, undefined);
      const { data, errors, cachePolicy } = await runForAgent(prepared, { variables, request });
      const found = data?.record;
      if (!found && errors[0]) throw errors[0];
      if (!found) return undefined;
      const seconds = cachePolicy ? secondsToKeep(cachePolicy) : 0;
      const cacheScope = cachePolicy?.scope === 'public' ? 'public' : 'private';
      // Seconds for which it may be kept; absent if it must not be. Clients of the older editions know no other place.
      const kept = seconds > 0 && cacheScope === 'public' && { _meta: { 'catalog-graphql/ttlSeconds': seconds } };
      const content = { uri, mimeType: 'application/json', text: JSON.stringify(found), ...kept };
      const caching: Caching = { ttlMs: seconds * 1_000, cacheScope };
      return { content, caching };
    },
  };
}

const text = (name: string, mimeType: string, title: string, make: () => string) => ({
  resource: { uri: `catalog://${name}`, name, title, mimeType },
  text: lazily(make),
});
