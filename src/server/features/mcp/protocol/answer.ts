/** Answers the body of a request: one message, or in the editions with sessions a batch of them. */
import type { IncomingHttpHeaders } from 'node:http';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type Lack, bothLack } from '../denial.ts';
import { checkVersionOfBatch, editionOf } from './edition.ts';
import {
  type Json,
  type RpcMessage,
  type RpcRequest,
  errorMessage,
  joined,
  readMessage,
  resultMessage,
} from './json-rpc.ts';
import type { Era, RespondTo } from '../methods.ts';
import type { AgentRequest } from '../places.ts';

export interface Answer {
  status: number;
  /** Empty if no message gets a response. */
  body: Json;
  /** What the token lacked for any of the messages. */
  lack?: Lack | undefined;
}

const ACCEPTED: Answer = { status: 202, body: '' };

/** `value` is that of the JSON. */
export function createAnswer(methods: Readonly<Record<Era, RespondTo>>) {
  return async (value: unknown, headers: IncomingHttpHeaders, request: AgentRequest): Promise<Answer> => {
    if (Array.isArray(value)) return answerBatch(value, headers, request);
    const message = readMessage(value);
    if (message.kind === 'invalid') return { status: 400, body: errorMessage(message.id, message.error) };
    if (message.kind === 'response') return ACCEPTED;
    const edition = editionOf(message.kind === 'request' ? message.request : message.notification, headers);
    if ('error' in edition) {
      const id = message.kind === 'request' ? message.request.id : null;
      return { status: edition.status, body: errorMessage(id, edition.error) };
    }
    if (message.kind === 'notification') return ACCEPTED;
    const { parts, lack, code } = await answerRequest(message.request, edition.era, request);
    const isUnknown = edition.era === 'request' && code === ProtocolErrorCode.MethodNotFound;
    return { status: isUnknown ? 404 : 200, body: joined(parts), lack };
  };

  async function answerBatch(values: unknown[], headers: IncomingHttpHeaders, request: AgentRequest): Promise<Answer> {
    const messages = values.map(readMessage);
    const problem = batchProblem(messages) ?? checkVersionOfBatch(messages, headers);
    if (problem) return { status: 400, body: errorMessage(null, problem) };
    const answers = await Promise.all(
      messages.map(async (message) => {
        if (message.kind === 'invalid') return [{ parts: [errorMessage(message.id, message.error)] }];
        if (message.kind !== 'request') return [];
        const { id, method } = message.request;
        if (method === 'initialize' && values.length > 1) {
          const error = new ProtocolError(ProtocolErrorCode.InvalidRequest, '`initialize` must be sent alone.');
          return [{ parts: [errorMessage(id, error)] }];
        }
        return [await answerRequest(message.request, 'session', request)];
      }),
    );
    const all: { parts: Json[]; lack?: Lack | undefined }[] = answers.flat();
    if (all.length === 0) return ACCEPTED;
    const lack = all.reduce<Lack | undefined>((found, each) => bothLack(found, each.lack), undefined);
    const separated = all.flatMap(({ parts }, at) => [at === 0 ? '[' : ',', ...parts]);
    return { status: 200, body: joined([...separated, ']']), lack };
  }

  async function answerRequest(message: RpcRequest, era: Era, request: AgentRequest) {
    const { outcome, lack } = await methods[era](message, request);
    return outcome instanceof ProtocolError
      ? { parts: [errorMessage(message.id, outcome)], lack, code: outcome.code }
      : { parts: resultMessage(message.id, outcome), lack };
  }
}

function batchProblem(messages: readonly RpcMessage[]): ProtocolError | undefined {
  if (messages.length === 0) return new ProtocolError(ProtocolErrorCode.InvalidRequest, 'A batch must have messages.');
  const ids = messages.flatMap((message) => (message.kind === 'request' ? [message.request.id] : []));
  // A client could not tell their responses apart.
  if (new Set(ids).size < ids.length)
    return new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Two requests of the batch have the same `id`.');
  return undefined;
}
