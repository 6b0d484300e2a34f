/** Results of tools: data, errors in words for an agent, and cost; cut to a number of characters. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { GraphQLError } from 'graphql';
import { CUTS_ROOM, cutToFit, shortenText } from './cut-response.ts';
import type { JsonSchema, ObjectSchema } from './documents/json-schema.ts';
import type { ServiceDescriptor } from '../../../api/service-descriptor.ts';
import { type Retry, notesOn } from '../../../engine/errors/codes.ts';
import { HttpError } from '../../http/response/http-error.ts';
import { type Lack, lackOf } from './denial.ts';
import type { Cost, Run } from './run.ts';

/** An error as an agent can use it. */
export interface AgentError {
  code: string;
  message: string;
  path?: string;
  whatToDo?: string;
  /** Whether the same call may help. */
  retry?: Retry;
  retryAfter?: number;
  [detail: string]: unknown;
}

const ERRORS_MAX = 10;
const MESSAGE_MAX = 400;
/** The members of `extensions` that an agent gets. */
const DETAILS = ['retryAfter', 'violations', 'limit', 'actual', 'existing', 'coordinate', 'requestId'];

export interface ToolOutcome {
  result: CallToolResult;
  /** What the token lacked for all of it. */
  lack?: Lack | undefined;
}

export const toolOutcome = (service: ServiceDescriptor, done: Run, max: number): ToolOutcome => ({
  result: toolResult(done, max),
  lack: lackOf(service, done.errors),
});

function toolResult({ data, errors, stale, cost, plan }: Run, max: number): CallToolResult {
  const shownErrors = boundedErrors(errors.map(agentError), max / 2);
  const isFailed = data === null || (shownErrors.length > 0 && Object.values(data).every((value) => value === null));
  const isPlanned = plan !== undefined;
  const rest = {
    ...(shownErrors.length > 0 && !isPlanned && { errors: shownErrors }),
    ...(stale !== undefined && { stale }),
    cost: costOf(cost),
  };
  const { value, cuts } = cutToFit(isPlanned ? plan : data, max - JSON.stringify(rest).length - CUTS_ROOM);
  const shown = { [isPlanned ? 'plan' : 'data']: value, ...(cuts.length > 0 && { cut: cuts }), ...rest };
  return packed(shown, isFailed && !isPlanned);
}

const packed = (structuredContent: Record<string, unknown>, isFailed: boolean): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
  structuredContent,
  ...(isFailed && { isError: true }),
});

/** The result of a call that was not run. */
export function failedResult(error: AgentError): CallToolResult {
  return packed({ data: null, errors: [error], cost: costOf({ calls: { catalog: 0, events: 0 }, left: null }) }, true);
}

export function agentError(error: GraphQLError | HttpError): AgentError {
  const { message, extensions } = error;
  const path = error instanceof HttpError ? undefined : error.path;
  const { code = 'INTERNAL_SERVER_ERROR' } = extensions;
  const details = Object.fromEntries(
    DETAILS.filter((name) => name in extensions).map((name) => [name, extensions[name]]),
  );
  const notes = notesOn(String(code));
  return {
    code: String(code),
    message: shortenText(message, MESSAGE_MAX),
    ...(path && { path: path.join('.') }),
    ...(notes && { whatToDo: notes.client, retry: notes.retry }),
    ...details,
  };
}

/** The first errors with their first violations, as many as fit. */
function boundedErrors(errors: readonly AgentError[], room: number): readonly AgentError[] {
  let left = room;
  const fits = (part: unknown) => (left -= JSON.stringify(part).length) >= 0;
  return errors.slice(0, ERRORS_MAX).flatMap(({ violations, ...error }, at) => {
    if (!fits(error) && at > 0) return [];
    return [{ ...error, ...(Array.isArray(violations) && { violations: violations.filter(fits) }) }];
  });
}

const costOf = ({ calls, left }: Cost) => ({ calls, ...(left && { left }) });

/** The schema of results: the data of the operation and what stands beside it. */
export function resultSchemaOf(data: JsonSchema): ObjectSchema {
  const object = { type: 'object' };
  return {
    type: 'object',
    properties: {
      data: { ...data, type: ['object', 'null'] },
      errors: { type: 'array', items: object },
      cut: {
        type: 'array',
        items: object,
        description: 'Lists that were cut; `next` has the arguments for the next items.',
      },
      stale: { type: 'array', items: object },
      cost: {
        ...object,
        description: 'The calls that were made; `left` has the film calls that agents can still make in this minute.',
      },
    },
    required: ['data', 'cost'],
  };
}
