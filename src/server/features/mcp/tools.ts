/** Tools: reviewed operations with their schemas, price and hints; with MCP_FREE, documents that agents write. */
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import { type GraphQLSchema, Kind, OperationTypeNode, type SelectionNode, print } from 'graphql';
import type { ServiceDescriptor } from '../../../api/service-descriptor.ts';
import type { Variables } from '../../../engine/plan/document.ts';
import { checkedArguments } from './documents/arguments.ts';
import { type ObjectSchema, inputSchemaOf, withoutExamples } from './documents/json-schema.ts';
import { type Price, priceOf } from '../../../engine/cost/price.ts';
import { type Assess, createAssess } from '../../../engine/documents/assess.ts';
import { withKey } from '../../graphql/plan-request.ts';
import { slotsOfAgents } from '../../../upstream/limits/rate-limiter.ts';
import { fieldRule } from '../../../engine/plan/read-declarations.ts';
import type { FeatureParts } from '../../feature.ts';
import { ConfigError } from '../../../config/read.ts';
import { type ReviewedOperation, readReviewedOperations } from './documents/operations.ts';
import type { AgentRequest } from './agent-slots.ts';
import { type ToolOutcome, toolOutcome } from './result.ts';
import type { RunForAgent } from './run.ts';

export interface ToolParts extends FeatureParts {
  runForAgent: RunForAgent;
}

/** The schema is our own type: that of the SDK describes any JSON. */
interface DescribedTool extends Omit<Tool, 'inputSchema'> {
  inputSchema: ObjectSchema;
}

export interface CallableTool {
  tool: DescribedTool;
  /** Rejects with a GraphQLError or HttpError for a call that is not run. */
  call: (given: Variables, request: AgentRequest) => Promise<ToolOutcome>;
}

/** Throws a ConfigError for an operation that could never run. */
export function createTools(path: string, parts: ToolParts): CallableTool[] {
  const assess = createAssess(parts.schema, parts.config);
  return readReviewedOperations(path, parts.schema, parts.config.mcpWrites).map((each) => toolOf(each, assess, parts));
}

function toolOf(
  reviewed: ReviewedOperation,
  assess: Assess,
  { schema, config, upstream: { service }, prepare, runForAgent }: ToolParts,
): CallableTool {
  const { document, operation, name, title, description } = reviewed;
  const inputSchema = inputSchemaOf(schema, document, operation);
  const text = print(withoutExamples(document));
  const { errors, cost } = assess(text, name);
  if (!cost) throw new ConfigError([`MCP_OPERATIONS: ${name} cannot be a tool: ${errors[0]?.message}`]);
  const limited = limitedCalls(service);
  const price = priceOf(cost, { maxCalls: config.maxUpstreamCalls, limited });
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  // The calls for the key are beside those that an operation may make.
  const withKeyToo = { maxCalls: Infinity, limited, withMore: withKey };
  const keyed = isMutation && config.idempotencyTtlSeconds > 0 ? priceOf(cost, withKeyToo) : undefined;
  const tool: DescribedTool = {
    name,
    title,
    description: `${description}\n${priceText(service, price, config.mcpShare / 100)}${keyed ? keyedText(keyed) : ''}`,
    inputSchema,
    annotations: hintsOf(schema, operation.operation, operation.selectionSet.selections),
    _meta: { 'catalog-graphql/price': price, ...(keyed && { 'catalog-graphql/price-with-key': keyed }) },
  };
  return {
    tool,
    async call(given, request) {
      const variables = checkedArguments(inputSchema, given);
      const done = await runForAgent(prepare(text, name), { variables, request });
      return toolOutcome(service, done, config.mcpResultCharacters);
    },
  };
}

/** The calls that count towards the rate limit, as costs name them. */
const limitedCalls = ({ endpoints }: ServiceDescriptor): ReadonlySet<string> =>
  new Set(endpoints.filter(({ isLimited }) => isLimited).map(({ method, path }) => `${method} ${path}`));

function priceText({ basicCallsAMinute: slots }: ServiceDescriptor, price: Price, share: number): string {
  const { likely, catalog, events, film } = price;
  const rate = `; basic film tier: ${film} of ${slots} a minute, of which agents have ${slotsOfAgents(slots, share)}`;
  return `Cost: about ${likely} ${likely === 1 ? 'call' : 'calls'}; at most ${catalog} of the catalog, ${events} of events${film > 0 ? rate : ''}.`;
}

/** With the reads before and after the write. */
const keyedText = ({ catalog, events }: Price): string =>
  ` With an idempotency key: at most ${catalog} of the catalog, ${events} of events.`;

/** A POST adds; a PUT or DELETE, and an upsert, replaces or removes. */
function hintsOf(schema: GraphQLSchema, type: OperationTypeNode, roots: readonly SelectionNode[]): ToolAnnotations {
  if (type === OperationTypeNode.QUERY) return { readOnlyHint: true, idempotentHint: true };
  const fields = schema.getMutationType()!.getFields();
  const methods = roots.map((root) => {
    const field = root.kind === Kind.FIELD ? fields[root.name.value] : undefined;
    const replaces = root.kind !== Kind.FIELD || print(root).includes('onConflict');
    return replaces || !field ? 'PUT' : (fieldRule(field).writeEndpoint?.method ?? 'PUT');
  });
  const isAdding = methods.every((method) => method === 'POST');
  return { readOnlyHint: false, destructiveHint: !isAdding, idempotentHint: !methods.includes('POST') };
}
