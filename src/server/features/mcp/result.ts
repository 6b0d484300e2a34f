/** Results of tools: data, errors in words for an agent, and cost; within a number of characters. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { GraphQLError } from 'graphql';
import type { ServiceDescriptor } from '../../../api/service-descriptor.ts';
import { type Retry, notesOn } from '../../../engine/errors/codes.ts';
import { shortText } from '../../../engine/errors/shown-value.ts';
import type { UpstreamErrorDetails } from '../../../upstream/errors.ts';
import { HttpError } from '../../http/response/http-error.ts';
import { type MissingAccess, missingIn } from './access-challenge.ts';
import type { Cost, Run } from './run.ts';

/** An error as an agent can use it. */
export interface AgentError {
  code: string;
  message: string;
  path?: string;
  /** The other paths with the same error. */
  alsoAt?: string[];
  whatToDo?: string;
  /** Whether the same call may help. */
  retry?: Retry;
  retryAfter?: number;
  [detail: string]: unknown;
}

const MESSAGE_MAX = 400;
/** What is shown of a list beside the data: its first entries. */
const SHOWN_MAX = 10;
/** An error of the document may have as many locations as that has fields. */
const LOCATIONS_MAX = 10;
/** The members of `extensions` that an agent gets. */
const DETAILS = 'retryAfter violations limit actual existing current revision coordinate requestId'.split(' ');

const DOCUMENT_CODES = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'];

export interface ToolOutcome {
  result: CallToolResult;
  /** What the token lacked for all of it. */
  needs?: MissingAccess | undefined;
}

export const toolOutcome = (service: ServiceDescriptor, done: Run, max: number): ToolOutcome => ({
  result: toolResult(done, max),
  needs: mayHaveWritten(service, done) ? undefined : missingIn(service, done.errors),
});

/** A client that gets a token for a request sends it again, so a write that may have been made is no question of tokens. */
const mayHaveWritten = (service: ServiceDescriptor, { isMutation, data, errors }: Run): boolean =>
  isMutation &&
  (Object.values(data ?? {}).some((value) => value !== null) || errors.some((each) => !missingIn(service, [each])));

function toolResult({ data, errors, stale, cost, plan, isMutation }: Run, max: number): CallToolResult {
  const isFailed = data === null || (errors.length > 0 && Object.values(data).every((value) => value === null));
  const isPlanned = plan !== undefined;
  const found = isPlanned ? [] : merged(errors.map(agentError));
  const first = found.slice(0, SHOWN_MAX);
  const areLong = JSON.stringify(first).length > max / 2;
  const shown = areLong ? first.map(withoutDetails) : first;
  const rest = {
    ...(found.length > 0 && { errors: shown }),
    ...(stale && { stale: stale.slice(0, SHOWN_MAX) }),
    cost: costOf(cost),
  };
  const cut = [...cutOf('errors', placesOf(found), placesOf(shown)), ...cutOf('stale', stale?.length ?? 0)];
  const value = isPlanned ? { plan } : { data };
  const whole = packed({ ...value, ...(cut.length > 0 && { cut }), ...rest }, isFailed && !isPlanned);
  if (isWithin(whole, max)) return whole;
  return packed({ data: null, errors: [agentError(tooLong(max, isMutation))], cost: costOf(cost) }, true);
}

/** Names a list beside the data of which not all is shown. */
const cutOf = (path: string, of: number, shown = Math.min(of, SHOWN_MAX)) => (shown < of ? [{ path, shown, of }] : []);

const isWithin = ({ content: [first] }: CallToolResult, max: number): boolean =>
  first?.type === 'text' && first.text.length <= max;

export const tooLong = (max: number, isMutation = false): HttpError =>
  new HttpError(
    'ANSWER_TOO_LARGE',
    `The result has more than ${max} characters: ask for less, such as smaller pages or fewer fields.${isMutation ? ' What it wrote stays.' : ''}`,
  );

const withoutDetails = ({ current: _, alsoAt: __, existing: ___, violations, ...error }: AgentError): AgentError => ({
  ...error,
  ...(Array.isArray(violations) && { violations: violations.slice(0, SHOWN_MAX) }),
});

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
  const { path, locations } = error instanceof HttpError ? {} : error;
  const { code = 'INTERNAL_SERVER_ERROR', upstream } = extensions;
  const { lookAt } = (upstream ?? {}) as Partial<UpstreamErrorDetails>;
  const details = Object.fromEntries(
    DETAILS.filter((name) => name in extensions).map((name) => [name, extensions[name]]),
  );
  const notes = notesOn(String(code));
  return {
    code: String(code),
    message: shortText(message, MESSAGE_MAX),
    ...(path && { path: shortText(path.join('.'), MESSAGE_MAX) }),
    // An error of the document, which the agent may have written; others are found by their path or argument.
    ...(DOCUMENT_CODES.includes(String(code)) && locations && { locations: locations.slice(0, LOCATIONS_MAX) }),
    ...(notes && { whatToDo: notes.client, retry: notes.retry }),
    ...details,
    ...(lookAt !== undefined && { upstream: { lookAt: shortText(lookAt, MESSAGE_MAX) } }),
  };
}

const placesOf = (errors: readonly AgentError[]): number =>
  errors.reduce((sum, { alsoAt = [] }) => sum + 1 + alsoAt.length, 0);

/** Errors that differ in their paths alone are one. */
function merged(errors: readonly AgentError[]): AgentError[] {
  const found = new Map<string, AgentError>();
  for (const { path, ...error } of errors) {
    const key = JSON.stringify(error);
    const first = found.get(key);
    if (!first) found.set(key, { ...error, ...(path !== undefined && { path }) });
    else if (path !== undefined) (first.alsoAt ??= []).push(path);
  }
  return [...found.values()];
}

const costOf = ({ calls, left }: Cost) => ({ calls, ...(left && { left }) });
