/** The tools of MCP_FREE: documents that agents write, and the schema to write them with. */
import {
  type GraphQLSchema,
  OperationTypeNode,
  isIntrospectionType,
  parse,
  print,
  printSchema,
  printType,
  visit,
} from 'graphql';
import type { Variables } from '../../../engine/plan/document.ts';
import { badInput } from '../../../engine/errors/to-client-error.ts';
import { lazily } from '../../../lib/promises.ts';
import { tooLong, toolOutcome } from './result.ts';
import { checkedArguments } from './documents/arguments.ts';
import { nullableSchema } from './documents/json-schema.ts';
import type { CallableTool, ToolParts } from './tools.ts';

export function createFreeTools(parts: ToolParts): CallableTool[] {
  return [queryTool(parts), schemaTool(parts)];
}

function queryTool({ config, upstream, prepare, runForAgent }: ToolParts): CallableTool {
  const { maxUpstreamCalls, mcpWrites, mcpResultCharacters } = config;
  const inputSchema = {
    type: 'object' as const,
    properties: {
      query: { type: 'string', description: 'A GraphQL document.', maxLength: config.maxDocumentCharacters },
      variables: nullableSchema({ type: 'object', description: 'The values of the variables of the document.' }),
      operationName: nullableSchema({
        type: 'string',
        description: 'The operation to run, if the document has several.',
      }),
      plan: nullableSchema({ type: 'boolean', description: 'Return the cost instead of running the document.' }),
    },
    additionalProperties: false,
    required: ['query'],
  };
  return {
    tool: {
      name: 'query',
      title: 'Run a GraphQL document',
      description:
        'Runs a document against the schema of the tool "schema". Select only what is needed.\n' +
        `Cost: at most ${maxUpstreamCalls} calls${mcpWrites ? ', and those for an idempotency key' : ''}; with plan: true the cost is returned and nothing is run.`,
      inputSchema,
      annotations: mcpWrites
        ? { readOnlyHint: false, destructiveHint: true, idempotentHint: false }
        : { readOnlyHint: true, idempotentHint: true },
    },
    async call(given, request) {
      const {
        query,
        variables = {},
        operationName,
        plan,
      } = checkedArguments(inputSchema, given) as FreeArguments & Variables;
      const prepared = prepare(query, operationName);
      if (prepared.errors?.[0]) throw prepared.errors[0];
      if (prepared.ready?.incrementalSelections.length) throw badInput('@defer and @stream are not supported here.');
      if (prepared.ready?.operation.operation === OperationTypeNode.MUTATION && !mcpWrites)
        throw badInput('Mutations are not allowed here.');
      const done = await runForAgent(prepared, { variables, request, isPlanned: plan === true });
      return toolOutcome(upstream.service, done, mcpResultCharacters);
    },
  };
}

interface FreeArguments {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
  plan?: boolean;
}

function schemaTool({ schema, config }: ToolParts): CallableTool {
  const bare = lazily(() => bareSchema(schema));
  const inputSchema = {
    type: 'object' as const,
    properties: {
      types: nullableSchema({
        type: 'array',
        items: { type: 'string' },
        description: 'Names of types to print with descriptions.',
      }),
    },
    additionalProperties: false,
  };
  return {
    tool: {
      name: 'schema',
      title: 'Read the schema',
      description: 'The whole schema without descriptions, or the named types with them.\nCost: no calls.',
      inputSchema,
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    async call(given) {
      const { types } = checkedArguments(inputSchema, given) as { types?: readonly string[] };
      const text = types === undefined ? bare() : printedTypes(schema, new Set(types));
      if (text.length > config.mcpResultCharacters) throw tooLong(config.mcpResultCharacters);
      return { result: { content: [{ type: 'text', text }] } };
    },
  };
}

const bareSchema = (schema: GraphQLSchema): string =>
  print(
    visit(parse(printSchema(schema)), {
      enter: (node) => ('description' in node && node.description ? { ...node, description: undefined } : undefined),
    }),
  );

/** Each type is printed once, so that an agent cannot make this take longer than the schema does. */
const printedTypes = (schema: GraphQLSchema, names: ReadonlySet<string>): string =>
  [...names]
    .map((name) => {
      const type = schema.getType(name);
      if (type && !isIntrospectionType(type)) return printType(type);
      return `# There is no type ${JSON.stringify(name).slice(0, 50)}.`;
    })
    .join('\n\n');
