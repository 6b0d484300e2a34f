/** Answers the message in the body of a request. */
import type { IncomingHttpHeaders } from 'node:http';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { MissingAccess } from '../access-challenge.ts';
import { editionOf } from './edition.ts';
import { type Json, errorMessage, readMessage, resultMessage } from './json-rpc.ts';
import type { Era, RespondTo } from '../methods.ts';
import type { AgentRequest } from '../agent-slots.ts';

export interface Answer {
  status: number;
  /** Empty if the message gets no response. */
  body: Json;
  needs?: MissingAccess | undefined;
}

const ACCEPTED: Answer = { status: 202, body: '' };

/** `value` is that of the JSON. */
export function createAnswer(methods: Readonly<Record<Era, RespondTo>>) {
  return async (value: unknown, headers: IncomingHttpHeaders, request: AgentRequest): Promise<Answer> => {
    const message = readMessage(value);
    if (message.kind === 'invalid') return { status: 400, body: errorMessage(message.id, message.error) };
    if (message.kind === 'response') return ACCEPTED;
    const edition = editionOf(message.kind === 'request' ? message.request : message.notification, headers);
    if ('error' in edition) {
      const id = message.kind === 'request' ? message.request.id : null;
      return { status: edition.status, body: errorMessage(id, edition.error) };
    }
    if (message.kind === 'notification') return ACCEPTED;
    const { id } = message.request;
    const { outcome, needs } = await methods[edition.era](message.request, request);
    if (!(outcome instanceof ProtocolError)) return { status: 200, body: resultMessage(id, outcome), needs };
    const isUnknown = edition.era === 'request' && outcome.code === ProtocolErrorCode.MethodNotFound;
    return { status: isUnknown ? 404 : 200, body: errorMessage(id, outcome), needs };
  };
}
